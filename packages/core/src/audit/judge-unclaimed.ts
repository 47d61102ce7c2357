import { formatSecond } from './format-instant.js'
import type { ArrivalTimeline } from './timeline.js'
import { VERDICT_LABELS, type Verdict } from './verdict.js'

const NOTHING_TO_SEND = { safe: false, why: 'nothing was claimed, so there is nothing to send again' }

/** The verdict on an id that arrived, signed, and was never claimed. */
export function judgeUnclaimed(arrivals: ArrivalTimeline): Verdict {
  const refusal = arrivals.refusals.at(-1)
  const trace = arrivals.unclaimed.at(-1)
  if (refusal !== undefined && refusal.observedAt >= (trace?.seenAt ?? 0)) {
    const againAt = refusal.observedAt + refusal.retryAfterMs
    const said = `${arrivals.source} pushed it before its time at ${formatSecond(refusal.observedAt)}`
    if (againAt >= arrivals.readAt) {
      return {
        kind: 'waiting',
        label: `Waiting until ${formatSecond(againAt)}`,
        sentence: `${said}. It was asked to push it again at ${formatSecond(againAt)}; nothing is claimed until then.`,
        advice: {
          name: 'wait',
          text: `Wait for ${arrivals.source} to push it again.`,
          command: null,
          redrive: NOTHING_TO_SEND,
        },
      }
    }
    const sentence = `${said} and was asked to push it again at ${formatSecond(againAt)}, but has not done so.`
    return neverQueued(arrivals, sentence)
  }
  const seen = trace === undefined ? '' : ` at ${formatSecond(trace.seenAt)} (${trace.cause})`
  const sentence =
    `${arrivals.source} pushed it with a valid signature${seen}, but it could not be stored. ` +
    'The sender was not told that we have it.'
  return neverQueued(arrivals, sentence)
}

function neverQueued(arrivals: ArrivalTimeline, sentence: string): Verdict {
  return {
    kind: 'never_queued',
    label: VERDICT_LABELS.never_queued,
    sentence: `${sentence} Nothing was changed, and nothing was queued for a destination.`,
    advice: {
      name: 'ask_source',
      text: `Ask ${arrivals.source} to push it again.`,
      command: null,
      redrive: NOTHING_TO_SEND,
    },
  }
}

/** The verdict on a query that matches nothing: says what was looked at, and how far back the record goes. */
export function judgeNothing(query: string, earliestKeptAt: number | null): Verdict {
  const kept =
    earliestKeptAt === null
      ? 'Nothing has ever been claimed here.'
      : `The record goes back to ${formatSecond(earliestKeptAt)}.`
  return {
    kind: 'no_record',
    label: VERDICT_LABELS.no_record,
    sentence:
      `No reference, delivery id, idempotency key, transition subject or id of ours is exactly "${query}". ${kept} ` +
      'A push without a valid signature leaves no record.',
    advice: {
      name: 'ask_source',
      text: 'Check the spelling; then ask the source whether it pushed it, and when.',
      command: null,
      redrive: NOTHING_TO_SEND,
    },
  }
}
