import { wordAdvice } from './advise.js'
import { judgeEntry } from './judge-entry.js'
import type { ActJudgement } from './judge-settle.js'
import type { EntryTimeline } from './timeline.js'
import { weighAttempts } from './weigh-attempts.js'

export type CancelRefusal = 'under_way' | 'misplaced' | 'not_pending' | 'doubt'

/** May a person stop an entry? Only while it waits to be sent, and nothing that was sent can have taken effect (I6). */
export function judgeCancel(entry: EntryTimeline, readAt: number): ActJudgement<CancelRefusal> {
  const { state, position } = entry
  if (state !== 'pending') {
    const { label, advice } = judgeEntry(entry, readAt)
    return { kind: 'conflict', because: 'not_pending', why: `it is not pending: ${label}`, next: wordAdvice(advice) }
  }
  if (position.kind === 'leased') {
    const why = `attempt ${position.attempt} is under way, and can't be called back`
    return { kind: 'conflict', because: 'under_way', why, next: `Wait for its end: counterfoil show ${entry.id}.` }
  }
  if (position.kind === 'nowhere' || position.kind === 'final') {
    const why = 'its place in the queue is missing, which has to be repaired first'
    return { kind: 'conflict', because: 'misplaced', why, next: 'Report it: counterfoil doctor.' }
  }
  if (weighAttempts(entry).doubtful.length > 0) {
    const why = `${entry.destination} may have acted on it already, so stopping it would hide that`
    const next =
      'Let the retry under its key find out, or settle it: ' +
      `counterfoil settle ${entry.id} --as delivered|not-delivered --evidence "…" --reason "…".`
    return { kind: 'refused', because: 'doubt', why, next }
  }
  return { kind: 'allowed' }
}
