import { adviseNothing } from './advise.js'
import { formatSecond } from './format-instant.js'
import type { EntryTimeline, LookupOnRecord } from './timeline.js'
import { VERDICT_LABELS, type Verdict } from './verdict.js'

/** The verdict on an entry whose doubt ended by asking: the destination's own record shows that it acted (I6). */
export function judgeFound({ destination }: EntryTimeline, { number, askedAt, answer }: LookupOnRecord): Verdict {
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
