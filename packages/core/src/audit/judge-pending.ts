import { adviseWait, type EntryAdvice } from './advise.js'
import { describeDoubt, describeOutcome } from './describe-attempt.js'
import { formatSecond } from './format-instant.js'
import type { EntryTimeline } from './timeline.js'
import type { UnaskedVerdict } from './unasked-verdict.js'
import { VERDICT_LABELS } from './verdict.js'
import type { WeighedAttempts } from './weigh-attempts.js'
import { listAttempts } from './word-attempts.js'

/** The verdict on an entry that is still being worked on. With a doubt open it is Unknown, not "not yet" (I6). */
export function judgePending(entry: EntryTimeline, weighed: WeighedAttempts, readAt: number): UnaskedVerdict {
  const { position, destination } = entry
  const isLost = position.kind === 'leased' && position.expiresAt < readAt
  const doubted = listAttempts(weighed.doubtful)
  const last = weighed.doubtful.at(-1)
  const next = wordNext(entry, readAt)
  if (isLost) {
    const sentence =
      `We cannot tell yet whether ${destination} acted on attempt ${position.attempt}: its worker has not reported ` +
      `since ${formatSecond(position.openedAt)}. The next sweep decides how to go on.`
    return { kind: 'unknown', label: VERDICT_LABELS.unknown, sentence, advice: adviseWait('Wait for the sweep.') }
  }
  if (doubted !== null && last !== undefined) {
    const sentence =
      `We cannot tell yet whether ${destination} acted on ${doubted}: ${describeDoubt(last)}. ${next} ` +
      'It carries the same key, so its answer will tell.'
    return { kind: 'unknown', label: VERDICT_LABELS.unknown, sentence, advice: adviseWaitFor(entry) }
  }
  const previous = weighed.all.at(-1)
  const so = previous === undefined ? '' : ` Attempt ${previous.number} before it: ${describeOutcome(previous)}.`
  return {
    kind: 'not_delivered_yet',
    label: VERDICT_LABELS.not_delivered_yet,
    sentence: `${next}${so}`,
    advice: adviseWaitFor(entry),
  }
}

function wordNext(entry: EntryTimeline, readAt: number): string {
  const { position, pause, destination, attempts } = entry
  const number = Math.max(0, ...attempts.map((attempt) => attempt.number)) + 1
  if (position.kind === 'leased') {
    return `Attempt ${position.attempt} to ${destination} is under way since ${formatSecond(position.openedAt)}.`
  }
  if (pause !== null && (pause.pausedUntil === null || pause.pausedUntil > readAt)) {
    const until = pause.pausedUntil === null ? 'until somebody resumes it' : `until ${formatSecond(pause.pausedUntil)}`
    return `Attempt ${number} waits, because ${destination} is paused ${until} (${pause.reason}).`
  }
  if (position.kind === 'due') {
    const when =
      position.dueAt <= readAt ? `since ${formatSecond(position.dueAt)}` : `at ${formatSecond(position.dueAt)}`
    return `Attempt ${number} to ${destination} is due ${when}.`
  }
  return `It is in no queue, so attempt ${number} will not come by itself.`
}

function adviseWaitFor(entry: EntryTimeline): EntryAdvice {
  const { pause, position, destination } = entry
  if (position.kind === 'nowhere' || position.kind === 'final') {
    const text = 'See what else is misplaced, and report it.'
    return { name: 'doctor', text, command: 'counterfoil doctor' }
  }
  if (pause !== null && pause.pausedUntil === null) {
    const command = `counterfoil release --destination ${destination} --reason "…"`
    return { ...adviseWait('When the cause of the pause is gone, resume it.'), name: 'resume', command }
  }
  return adviseWait('Wait: it goes on by itself.')
}
