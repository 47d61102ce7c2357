import { adviseCheck, adviseNothing, adviseRedrive, adviseSettle, askRedrive } from './advise.js'
import { describeDoubt, describeOutcome } from './describe-attempt.js'
import { formatSecond } from './format-instant.js'
import { heedContradiction, judgeFound, wordDoubt } from './judge-found.js'
import { judgePending } from './judge-pending.js'
import { judgeSettled } from './judge-settled.js'
import type { EntryTimeline } from './timeline.js'
import type { UnaskedVerdict } from './unasked-verdict.js'
import { VERDICT_LABELS, type Verdict } from './verdict.js'
import { mayHaveActedTwice, type WeighedAttempts, weighAttempts } from './weigh-attempts.js'
import { listAttempts } from './word-attempts.js'

const HELD: Readonly<Record<string, string>> = {
  no_key: 'it is not sent again by itself, because the destination has no key to recognise a repeat by',
  key_window_closed: 'it is not sent again by itself, because the key no longer protects a repeat',
  attempts_used_up: 'its attempts are used up',
  too_old: 'it is too old to be sent again by itself',
  rejected_after_doubt: 'a later attempt was refused, which says nothing about the one in doubt',
  retry_tells_nothing: 'asking again under the same key would only bring the same answer',
}

const GAVE_UP: Readonly<Record<string, string>> = {
  did_not: 'it was asked, says that it did not act, and is not sent again by itself',
  attempts_used_up: 'its attempts are used up',
  too_old: 'it became too old',
}

/** The verdict on one business action, and whether the evidence allows to redrive it. */
export function judgeEntry(entry: EntryTimeline, readAt: number): Verdict {
  const verdict = judgeEvidence(entry, readAt)
  const sentence = `${verdict.sentence}${wordAgain(entry)}`
  const advice = { ...verdict.advice, redrive: askRedrive(entry, readAt) }
  return heedContradiction({ ...verdict, sentence, advice }, entry)
}

/** Sent on purpose as an action of its own: said, so that nobody takes it for a repeat. */
function wordAgain({ again, idempotencyKey }: EntryTimeline): string {
  if (again === null) return ''
  return (
    ` It is a business action of its own, under the key ${idempotencyKey}: ${again.requestedBy} asked to send it again ` +
    `as new, and ${again.approvedBy} approved.`
  )
}

/** A yes that is on record counts, whatever state the entry is in. */
function judgeEvidence(entry: EntryTimeline, readAt: number): UnaskedVerdict {
  const weighed = weighAttempts(entry)
  if (weighed.accepted.length > 0 || entry.state === 'delivered') return judgeAccepted(entry, weighed)
  switch (entry.state) {
    case 'pending':
      return judgePending(entry, weighed, readAt)
    case 'uncertain':
      return judgeUncertain(entry, weighed, readAt)
    case 'settled':
      // What came into doubt after the person had settled it is not covered by the person's word.
      return weighed.doubtful.length > 0 && entry.reason !== 'delivered'
        ? judgeUncertain(entry, weighed, readAt)
        : judgeSettled(entry)
    case 'dead_lettered':
    case 'cancelled':
      // A dead letter never carries a doubt; should one ever show up, it is not called "not delivered" (I6).
      return weighed.doubtful.length > 0 ? judgeUncertain(entry, weighed, readAt) : judgeGivenUp(entry, weighed)
  }
}

function judgeAccepted(entry: EntryTimeline, weighed: WeighedAttempts): UnaskedVerdict {
  const { destination } = entry
  const yes = weighed.accepted.at(-1)
  if (yes === undefined) {
    const found = entry.lookups.find(({ answer }) => answer?.effect === 'delivered')
    if (found !== undefined) return judgeFound(entry, found)
    const at = entry.closedAt === null ? '' : ` at ${formatSecond(entry.closedAt)}`
    const sentence = `${destination} accepted it${at}; the attempt itself is no longer on record.`
    return { kind: 'delivered_once', label: VERDICT_LABELS.delivered_once, sentence, advice: adviseNothing() }
  }
  const accepted = `${destination} accepted attempt ${yes.number} at ${formatSecond(yes.endedAt)} (${yes.status ?? 'no status'})`
  if (mayHaveActedTwice(weighed)) return judgeTwice(entry, weighed, accepted)
  const doubted = listAttempts(weighed.resolved.filter((attempt) => attempt.number !== yes.number))
  if (yes.repeat || entry.repeat === true) {
    const before = doubted === null ? 'an earlier request' : `${doubted}, whose answer did not reach us`
    return {
      kind: 'delivered_repeat_ignored',
      label: VERDICT_LABELS.delivered_repeat_ignored,
      sentence:
        `${destination} recognised attempt ${yes.number} as a repeat at ${formatSecond(yes.endedAt)} ` +
        `(${yes.status ?? 'no status'}) and ignored it: it had already acted on ${before}.`,
      advice: adviseNothing(),
    }
  }
  const also =
    doubted === null
      ? '.'
      : `. The outcome of ${doubted} never became known; it carried the same key, so ${destination} acted once.`
  const disproved = listAttempts(weighed.disproved)
  const before = disproved === null ? '' : ` Of ${disproved} it had said, asked, that it did not act.`
  const late = yes.isLate ? ' The answer came after the lease was lost, and was kept.' : ''
  const sentence = `${accepted}${also}${before}${late}${wordContradiction(entry)}`
  return { kind: 'delivered_once', label: VERDICT_LABELS.delivered_once, sentence, advice: adviseNothing() }
}

function judgeTwice(entry: EntryTimeline, weighed: WeighedAttempts, accepted: string): UnaskedVerdict {
  const doubted = listAttempts(weighed.doubtful)
  const others = listAttempts(weighed.accepted.slice(0, -1))
  const why =
    doubted === null
      ? `${accepted}, and ${others ?? 'another attempt'} was accepted too, without a common key to recognise a repeat by.`
      : `${accepted}, but ${doubted} may have taken effect as well, and carried no common key to recognise a repeat by.`
  return {
    kind: 'possibly_delivered_more_than_once',
    label: VERDICT_LABELS.possibly_delivered_more_than_once,
    sentence: `${why} It may have been carried out twice.`,
    advice: adviseCheck(entry, 'Check whether it happened twice before you tell the customer.'),
  }
}

function judgeUncertain(entry: EntryTimeline, weighed: WeighedAttempts, readAt: number): UnaskedVerdict {
  const { destination } = entry
  const doubted = listAttempts(weighed.doubtful)
  const last = weighed.doubtful.at(-1)
  const what =
    doubted === null || last === undefined
      ? `We cannot tell whether ${destination} acted.`
      : `We cannot tell whether ${destination} acted on ${doubted}: ${describeDoubt(last)}.`
  const held = entry.reason !== null && Object.hasOwn(HELD, entry.reason) ? HELD[entry.reason] : undefined
  const why = (held === undefined ? '' : ` It is held: ${held}.`) + wordDoubt(entry, readAt)
  return {
    kind: 'unknown',
    label: VERDICT_LABELS.unknown,
    sentence: `${what}${why}`,
    advice: adviseSettle(entry),
  }
}

function judgeGivenUp(entry: EntryTimeline, weighed: WeighedAttempts): UnaskedVerdict {
  const { destination } = entry
  const last = weighed.all.at(-1)
  const label = VERDICT_LABELS.not_delivered
  if (entry.state === 'cancelled') {
    const act = entry.acts.filter((one) => one.action === 'cancel').at(-1)
    const why = act === undefined ? (entry.reason ?? 'no reason on record') : `by ${act.actor}: ${act.reason}`
    const sentence = `It was stopped before ${destination} accepted anything (${why}).`
    return { kind: 'not_delivered', label, sentence, advice: adviseNothing('Ask the source to push it anew.') }
  }
  if (last === undefined) {
    const sentence = `It was given up before any attempt (${entry.reason ?? 'no reason on record'}).`
    return { kind: 'not_delivered', label, sentence, advice: adviseRedrive(entry) }
  }
  const at = formatSecond(last.endedAt)
  const gaveUp = entry.reason !== null && Object.hasOwn(GAVE_UP, entry.reason) ? GAVE_UP[entry.reason] : undefined
  if (entry.reason === 'did_not') {
    const sentence = `${destination} did not take it: ${gaveUp}.`
    return { kind: 'not_delivered', label, sentence, advice: adviseRedrive(entry) }
  }
  const sentence =
    gaveUp === undefined
      ? `${destination} did not take it: attempt ${last.number} at ${at} was ${describeOutcome(last)}. Nothing was accepted.`
      : `It was given up, because ${gaveUp}. The last attempt, ${last.number} at ${at}: ${describeOutcome(last)}. Nothing was accepted.`
  return { kind: 'not_delivered', label, sentence, advice: adviseRedrive(entry) }
}

/** A yes that came although the entry stands as something else: said, because a person would trip over it. */
function wordContradiction(entry: EntryTimeline): string {
  if (entry.state === 'delivered' || (entry.state === 'settled' && entry.reason === 'delivered')) return ''
  if (entry.state === 'pending') return ' The entry has yet to be closed with it.'
  return ` The entry stands as ${entry.state.replace('_', ' ')}, which that answer contradicts.`
}
