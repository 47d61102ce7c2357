import { adviseNothing, adviseWait } from './advise.js'
import { formatSecond } from './format-instant.js'
import type { ActOnRecord, DeliveryTimeline, TransitionOnRecord } from './timeline.js'
import { type Advice, VERDICT_LABELS, type Verdict, type VerdictKind } from './verdict.js'

const NOTHING_TO_SEND = { safe: false, why: 'there is nothing to send again' }

/** The verdict on a delivery that asks for no action of a destination. */
export function judgeNoActions(timeline: DeliveryTimeline): Verdict {
  const { delivery, transitions } = timeline
  const last = transitions.at(-1)
  if (last !== undefined) return judgeTransition(timeline, last)
  if (delivery.disposition === 'quarantined') return judgeQuarantined(timeline)
  if (delivery.disposition === 'ignored') {
    const sentence = `It was accepted and kept, and nothing follows from it: ${delivery.reason ?? 'no reason on record'}.`
    return verdict('ignored', VERDICT_LABELS.ignored, sentence, { ...adviseNothing(), redrive: NOTHING_TO_SEND })
  }
  if (timeline.deferredUntil !== null) return judgeWaiting(timeline, timeline.deferredUntil)
  const sentence = `It was accepted at ${formatSecond(delivery.claimedAt)}, and its route asks for no action.`
  return verdict('done', VERDICT_LABELS.done, sentence, { ...adviseNothing(), redrive: NOTHING_TO_SEND })
}

function judgeTransition(timeline: DeliveryTimeline, last: TransitionOnRecord): Verdict {
  const { transition, subject } = last
  const at = formatSecond(last.decidedAt)
  const nothing = { ...adviseNothing(), redrive: NOTHING_TO_SEND }
  switch (last.outcome) {
    case 'applied': {
      const by = last.decidedBy === 'push' ? '' : ` (by ${last.decidedBy})`
      return verdict('done', `Done (${transition})`, `${transition} was applied to ${subject} at ${at}${by}.`, nothing)
    }
    case 'no_longer_held': {
      const sentence = `${subject} was no longer in the state that ${transition} changes at ${at}, so it stays as it is.`
      return verdict('nothing_to_do', 'Nothing to do (no longer held)', sentence, nothing)
    }
    case 'superseded': {
      const sentence = `The deadline of ${subject} had been moved past the one in this event at ${at}, so it stays as it is.`
      return verdict('nothing_to_do', 'Nothing to do (superseded)', sentence, nothing)
    }
    case 'not_found': {
      const sentence = `There was no ${subject} for ${transition} to change at ${at}.`
      return verdict('nothing_to_do', 'Nothing to do (not found)', sentence, {
        ...nothing,
        name: 'check',
        text: 'Check whether the source meant another subject.',
      })
    }
    case 'not_due': {
      if (timeline.deferredUntil !== null) return judgeWaiting(timeline, timeline.deferredUntil)
      const sentence = `It came before its time at ${at}, and this source's policy is to discard what comes early.`
      return verdict('nothing_to_do', 'Nothing to do (came early)', sentence, nothing)
    }
  }
}

function judgeWaiting(timeline: DeliveryTimeline, until: number): Verdict {
  const overdue = until < timeline.readAt
  const label = `Waiting until ${formatSecond(until)}`
  const sentence = overdue
    ? `Its time came at ${formatSecond(until)}; the next sweep applies it.`
    : `It came before its time and is kept; it is applied by itself at ${formatSecond(until)}.`
  return verdict('waiting', label, sentence, { ...adviseWait('Wait: it goes on by itself.'), redrive: NOTHING_TO_SEND })
}

function judgeQuarantined(timeline: DeliveryTimeline): Verdict {
  const { delivery, acts } = timeline
  const act = acts.filter((one) => one.action === 'release' || one.action === 'discard').at(-1)
  if (act !== undefined) return judgeReleased(act)
  const advice: Advice = {
    name: 'release',
    text: 'Correct the route or the schema, then release it; or drop it for good with --discard.',
    command: `counterfoil release ${delivery.id} --reason "…"`,
    redrive: NOTHING_TO_SEND,
  }
  const sentence = `It is authentic, but cannot be used: ${delivery.reason ?? 'no reason on record'}. It was kept and acknowledged.`
  return verdict('quarantined', VERDICT_LABELS.quarantined, sentence, advice)
}

function judgeReleased(act: ActOnRecord): Verdict {
  const at = formatSecond(act.actedAt)
  const nothing = { ...adviseNothing(), redrive: NOTHING_TO_SEND }
  if (act.action === 'discard') {
    const sentence = `It was quarantined, and discarded by ${act.actor} at ${at}: ${act.reason}.`
    return verdict('ignored', 'Ignored (discarded)', sentence, nothing)
  }
  const sentence = `It was quarantined, and released by ${act.actor} at ${at}; its route asks for no action.`
  return verdict('done', 'Done (released)', sentence, nothing)
}

function verdict(kind: VerdictKind, label: string, sentence: string, advice: Advice): Verdict {
  return { kind, label, sentence, advice }
}
