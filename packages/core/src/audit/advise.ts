import { judgeRedrive } from './judge-redrive.js'
import type { EntryTimeline } from './timeline.js'
import type { Advice } from './verdict.js'

/** Advice on an entry before it is asked whether a redrive is safe. */
export type EntryAdvice = Omit<Advice, 'redrive'>

/** What the evidence alone says about a redrive; the destination's contract is not at hand where a verdict is made. */
export function askRedrive(entry: EntryTimeline, now: number): Advice['redrive'] {
  const judged = judgeRedrive({ entry, contract: 'unknown', now })
  return { safe: judged.kind === 'safe', why: judged.why }
}

export function adviseNothing(text = 'Nothing.'): EntryAdvice {
  return { name: 'nothing', text, command: null }
}

export function adviseWait(text: string): EntryAdvice {
  return { name: 'wait', text, command: null }
}

export function adviseSettle(entry: EntryTimeline): EntryAdvice {
  return {
    name: 'settle',
    text: `Find out at ${entry.destination} whether it acted, by the key ${entry.idempotencyKey}, and record it.`,
    command: `counterfoil settle ${entry.id} --as delivered|not-delivered --evidence "…" --reason "…"`,
  }
}

export function adviseRedrive(entry: EntryTimeline): EntryAdvice {
  if (entry.contentErased) {
    const text = 'The content was erased, so it cannot be sent again. Ask the source to push it anew.'
    return { name: 'ask_source', text, command: null }
  }
  return {
    name: 'redrive',
    text: 'When the cause is gone, return it to pending: same key, same content.',
    command: `counterfoil redrive ${entry.id} --reason "…"`,
  }
}

export function adviseCheck(entry: EntryTimeline, text: string): EntryAdvice {
  return {
    name: 'check',
    text: `${text} Look at ${entry.destination} for the key ${entry.idempotencyKey}.`,
    command: null,
  }
}

/** Advice on one line, command included. */
export function wordAdvice({ text, command }: EntryAdvice): string {
  return command === null ? text : `${text} ${command}`
}
