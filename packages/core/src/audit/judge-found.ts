import { adviseCheck, adviseNothing } from './advise.js'
import { formatSecond } from './format-instant.js'
import type { EntryTimeline, LookupOnRecord } from './timeline.js'
import type { UnaskedVerdict } from './unasked-verdict.js'
import { VERDICT_LABELS, type Verdict } from './verdict.js'

/** The verdict on an entry whose doubt ended by asking: the destination's own record shows that it acted (I6). */
export function judgeFound(
  { destination }: EntryTimeline,
  { number, askedAt, answer }: LookupOnRecord,
): UnaskedVerdict {
  const status = answer?.status === undefined || answer.status === null ? '' : ` (${answer.status})`
  return {
    kind: 'delivered_once',
    label: `${VERDICT_LABELS.delivered_once} (found by asking)`,
    sentence:
      `${destination} never answered the request itself, but its own record shows that it acted: ` +
      `question ${number} at ${formatSecond(askedAt)}${status}.`,
    advice: adviseNothing(),
  }
}

/**
 * A finding that came second moved nothing, yet where it says that the destination acted, nothing may be sent again as
 * if it had not (I6): a person has to look at what contradicts what.
 */
export function heedContradiction(verdict: Verdict, entry: EntryTimeline): Verdict {
  if (!verdict.advice.redrive.safe) return verdict
  const kept = entry.lookups.find(({ answer }) => answer?.finding === 'took_effect' && answer.effect === 'kept')
  if (kept === undefined) return verdict
  const said = `${entry.destination}'s own record shows that it acted: question ${kept.number} at ${formatSecond(kept.askedAt)}`
  const redrive = { safe: false, why: `${said}; sent again, it could be carried out twice` }
  return {
    ...verdict,
    sentence: `${verdict.sentence} But ${said}, which contradicts that.`,
    advice: { ...adviseCheck(entry, 'Find out which of the two is right before anything is sent again.'), redrive },
  }
}

/** What asking about an open doubt has brought so far, and when a person has to look; empty where nothing is known. */
export function wordDoubt({ destination, lookups, doubt }: EntryTimeline, readAt: number): string {
  const last = lookups.filter(({ answer }) => answer !== null).at(-1)
  const asked =
    last === undefined
      ? ''
      : ` ${destination} was asked, last at ${formatSecond(last.askedAt)}, without a definite answer.`
  if (doubt === null) return asked
  if (doubt.reviewBy !== null && doubt.reviewBy <= readAt) {
    return `${asked} It is overdue since ${formatSecond(doubt.reviewBy)}.`
  }
  const next =
    doubt.nextAskAt === null || doubt.reviewBy === null
      ? ''
      : ` It is asked at ${formatSecond(Math.max(doubt.nextAskAt, readAt))}.`
  return `${asked}${next}`
}
