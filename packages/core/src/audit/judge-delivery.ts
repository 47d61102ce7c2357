import { findFamilies, isReplaced, judgeFamily } from './judge-families.js'
import { judgeVerdict } from './judge-verdict.js'
import type { DeliveryTimeline, EntryTimeline } from './timeline.js'
import { type Counters, VERDICT_KINDS, type Verdict } from './verdict.js'
import { weighAttempts } from './weigh-attempts.js'

export type EntryVerdict = { readonly entry: EntryTimeline; readonly verdict: Verdict; readonly counters: Counters }

/** What support reads about one delivery: the least certain verdict as its headline, and one verdict per action. */
export type DeliveryVerdict = {
  readonly headline: Verdict
  readonly counters: Counters
  readonly entries: readonly EntryVerdict[]
}

/** Judges a delivery with all its actions. Pure. */
export function judgeDelivery(timeline: DeliveryTimeline): DeliveryVerdict {
  const pushes = timeline.counts.observed + timeline.counts.refused
  const arrivals = { pushes, repeats: timeline.counts.duplicates }
  const entries = timeline.entries.map(
    (entry): EntryVerdict => ({
      entry,
      verdict: judgeVerdict({ kind: 'entry', entry, readAt: timeline.readAt }),
      counters: { ...arrivals, ...countAttempts(entry, timeline.readAt) },
    }),
  )
  const headline = entries.length > 0 ? judgeHeadline(entries) : judgeVerdict({ kind: 'no_actions', timeline })
  return { headline, counters: { ...arrivals, ...sum(entries) }, entries }
}

function countAttempts(entry: EntryTimeline, readAt: number): Pick<Counters, 'attempts' | 'confirmed' | 'unknown'> {
  const { all, accepted, doubtful } = weighAttempts(entry)
  const { position } = entry
  const inFlight = position.kind === 'leased' ? 1 : 0
  const lost = position.kind === 'leased' && position.expiresAt < readAt && accepted.length === 0 ? 1 : 0
  // An uncertain entry whose attempts are no longer on record is still one unknown.
  const least = entry.state === 'uncertain' && accepted.length === 0 ? 1 : 0
  return {
    attempts: all.length + inFlight,
    confirmed: accepted.length,
    unknown: Math.max(least, doubtful.length + lost),
  }
}

function sum(entries: readonly EntryVerdict[]): Pick<Counters, 'attempts' | 'confirmed' | 'unknown'> {
  const total = { attempts: 0, confirmed: 0, unknown: 0 }
  for (const { counters } of entries) {
    total.attempts += counters.attempts
    total.confirmed += counters.confirmed
    total.unknown += counters.unknown
  }
  return total
}

/** The least certain, and the truth about what people sent again: that is a second action, not a repeat. */
function judgeHeadline(entries: readonly EntryVerdict[]): Verdict {
  const families = findFamilies(entries)
  const own = entries.filter((one) => !isReplaced(one, families)).map(({ verdict }) => verdict)
  const twice = families.filter((family) => family.actedTwice).map(judgeFamily)
  const headline = leastCertain([...own, ...twice])
  const said = families.map(({ sentence }) => sentence).filter((sentence) => sentence !== headline.sentence)
  return { ...headline, sentence: [headline.sentence, ...said].join(' ') }
}

function leastCertain(verdicts: readonly Verdict[]): Verdict {
  const first = [...verdicts].sort((a, b) => rank(a) - rank(b))[0]
  if (first === undefined) throw new Error('a delivery without entries has no entry verdict')
  return first
}

function rank(verdict: Verdict): number {
  return VERDICT_KINDS.indexOf(verdict.kind)
}
