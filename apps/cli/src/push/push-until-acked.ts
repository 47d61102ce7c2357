import type { PushAnswer } from './send-once.js'

export type PushAttempt = {
  readonly number: number
  readonly at: number
  readonly tookMs: number
  readonly answer: PushAnswer
}

export type PushResult = {
  readonly kind: 'acked' | 'refused' | 'too_old' | 'interrupted'
  readonly attempts: readonly PushAttempt[]
}

export type PushPlan = {
  readonly firstRetryMs: number
  readonly maxRetryMs: number
  /** Nothing is tried again when it would begin later than this after the first try. */
  readonly maxAgeMs: number
}

export type PushDeps = {
  readonly send: (attempt: number) => Promise<PushAnswer>
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  readonly random: () => number
  readonly signal: AbortSignal
  readonly onAttempt: (attempt: PushAttempt, nextInMs: number | null) => void
}

/**
 * Pushes like a queue: again and again until it is acknowledged, with bounded exponential backoff and jitter, until the
 * push is too old. A definite refusal is not repeated.
 */
export async function pushUntilAcked(plan: PushPlan, deps: PushDeps): Promise<PushResult> {
  const startedAt = deps.now()
  const attempts: PushAttempt[] = []
  for (;;) {
    const at = deps.now()
    const number = attempts.length + 1
    const answer = await deps.send(number)
    const attempt = { number, at, tookMs: deps.now() - at, answer }
    attempts.push(attempt)
    const verdict = deps.signal.aborted ? 'interrupted' : judgeAnswer(answer)
    const nextInMs = verdict === 'again' ? retryInMs(plan, number, answer, deps.random()) : null
    const isTooOld = nextInMs !== null && deps.now() + nextInMs - startedAt > plan.maxAgeMs
    deps.onAttempt(attempt, isTooOld ? null : nextInMs)
    if (verdict !== 'again') return { kind: verdict, attempts }
    if (isTooOld || nextInMs === null) return { kind: 'too_old', attempts }
    await deps.wait(nextInMs)
    if (deps.signal.aborted) return { kind: 'interrupted', attempts }
  }
}

/** 408, 425 and 429 say "later"; every other 4xx says "never", whatever is sent again. */
function judgeAnswer(answer: PushAnswer): 'acked' | 'refused' | 'again' {
  if (answer.kind !== 'answered') return 'again'
  const { status } = answer
  if (status >= 200 && status < 300) return 'acked'
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status) ? 'refused' : 'again'
}

/** Within ±20 % of the step, so that the first one is about as long as it was said to be; `Retry-After` is a least. */
function retryInMs(plan: PushPlan, tries: number, answer: PushAnswer, random: number): number {
  const step = Math.min(plan.maxRetryMs, plan.firstRetryMs * 2 ** Math.min(tries - 1, 20))
  const own = Math.round(step * (0.8 + 0.4 * random))
  const asked = answer.kind === 'answered' ? (answer.retryAfterMs ?? 0) : 0
  return Math.max(own, Math.min(asked, Math.max(plan.maxRetryMs, own)))
}
