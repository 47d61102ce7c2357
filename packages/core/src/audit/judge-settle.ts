import { wordAdvice } from './advise.js'
import { judgeEntry } from './judge-entry.js'
import type { EntryTimeline } from './timeline.js'
import { weighAttempts } from './weigh-attempts.js'

/** `conflict`: the state is not what the act needs; `refused`: it is, but the act would not be safe. */
export type ActJudgement<Refusal extends string> =
  | { readonly kind: 'allowed' }
  | {
      readonly kind: 'conflict' | 'refused'
      readonly because: Refusal
      readonly why: string
      readonly next: string
    }

export type SettleRefusal = 'newer_attempt' | 'already_settled' | 'under_way' | 'not_in_doubt'

/**
 * May a person close the doubt about an entry? It is held as uncertain; or it waits with its doubt open for a retry under
 * its key, which the person's evidence makes needless; or the doubt came late, to what had already ended.
 *
 * @param seenAttempt the newest attempt that the person had seen; `null`: not said
 */
export function judgeSettle(
  entry: EntryTimeline,
  readAt: number,
  seenAttempt: number | null,
): ActJudgement<SettleRefusal> {
  const { state } = entry
  const look = `Look again: counterfoil show ${entry.id}.`
  if (state === 'uncertain' || isInDoubt(entry)) {
    const newest = Math.max(0, ...entry.attempts.map((attempt) => attempt.number))
    if (seenAttempt === null || seenAttempt === newest) return { kind: 'allowed' }
    const why = `there is an attempt ${newest} that you had not seen`
    return { kind: 'conflict', because: 'newer_attempt', why, next: look }
  }
  if (state === 'settled') {
    const by = entry.acts.filter((act) => act.action === 'settle').at(-1)?.actor ?? 'somebody'
    const why = `${by} has already settled it as ${entry.reason === 'delivered' ? 'delivered' : 'not delivered'}`
    return { kind: 'conflict', because: 'already_settled', why, next: look }
  }
  if (entry.position.kind === 'leased') {
    const why = `attempt ${entry.position.attempt} is under way, and its answer may decide it`
    return { kind: 'conflict', because: 'under_way', why, next: `Wait for its end. ${look}` }
  }
  const { label, advice } = judgeEntry(entry, readAt)
  return {
    kind: 'conflict',
    because: 'not_in_doubt',
    why: `its effect is not in doubt: ${label}`,
    next: wordAdvice(advice),
  }
}

function isInDoubt(entry: EntryTimeline): boolean {
  const { state, position, reason } = entry
  if (state === 'delivered' || (state === 'settled' && reason === 'delivered')) return false
  if (state === 'pending' && (position.kind === 'leased' || position.kind === 'nowhere')) return false
  const { doubtful, accepted } = weighAttempts(entry)
  return doubtful.length > 0 && accepted.length === 0
}
