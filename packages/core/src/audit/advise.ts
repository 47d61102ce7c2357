import type { EntryTimeline } from './timeline.js'
import type { Advice } from './verdict.js'

type Redrive = Advice['redrive']

const notSafe = (why: string): Redrive => ({ safe: false, why })

const ALREADY_DELIVERED = notSafe('it was delivered: sending it again would be a second request for the same action')

export function adviseNothing(text = 'Nothing.', redrive: Redrive = ALREADY_DELIVERED): Advice {
  return { name: 'nothing', text, command: null, redrive }
}

export function adviseWait(text: string): Advice {
  return {
    name: 'wait',
    text,
    command: null,
    redrive: notSafe('it is still being worked on; a redrive would only get in its way'),
  }
}

export function adviseSettle(entry: EntryTimeline): Advice {
  return {
    name: 'settle',
    text: `Find out at ${entry.destination} whether it acted, by the key ${entry.idempotencyKey}, and record it.`,
    command: `counterfoil settle ${entry.id} --as delivered|not-delivered --evidence "…" --reason "…"`,
    redrive: notSafe('what is in doubt must be settled first, or it could be carried out twice'),
  }
}

export function adviseRedrive(entry: EntryTimeline): Advice {
  if (entry.contentErased) {
    const text = 'The content was erased, so it cannot be sent again. Ask the source to push it anew.'
    return { name: 'ask_source', text, command: null, redrive: notSafe('its content was erased') }
  }
  return {
    name: 'redrive',
    text: 'When the cause is gone, return it to pending: same key, same content.',
    command: `counterfoil redrive ${entry.id} --reason "…"`,
    redrive: { safe: true, why: 'nothing that was sent took effect, and it goes out under the same key' },
  }
}

export function adviseCheck(entry: EntryTimeline, text: string): Advice {
  return {
    name: 'check',
    text: `${text} Look at ${entry.destination} for the key ${entry.idempotencyKey}.`,
    command: null,
    redrive: ALREADY_DELIVERED,
  }
}

/** Advice on one line, command included. */
export function wordAdvice({ text, command }: Advice): string {
  return command === null ? text : `${text} ${command}`
}
