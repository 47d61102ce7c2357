import { formatDuration } from '@counterfoil/core'
import { EXIT, type ExitCode } from '../terminal/exit-codes.js'
import type { PushAttempt, PushResult } from './push-until-acked.js'
import type { PushAnswer } from './send-once.js'

export function describeAttempt(copy: number, copies: number, attempt: PushAttempt, nextInMs: number | null): string {
  const which = copies === 1 ? '' : `copy ${copy}, `
  const next = nextInMs === null ? '' : `; again in ${formatDuration(nextInMs)}`
  return `${which}push ${attempt.number}: ${describeAnswer(attempt.answer)} after ${formatDuration(attempt.tookMs)}${next}`
}

function describeAnswer(answer: PushAnswer): string {
  switch (answer.kind) {
    case 'answered':
      return `answered ${answer.status}`
    case 'dropped':
      return 'answer dropped on purpose'
    case 'failed':
      return `no answer (${answer.cause})`
  }
}

export function describeResults(results: readonly PushResult[]): string {
  const count = (kind: PushResult['kind']) => results.filter((result) => result.kind === kind).length
  const said = [
    ['acknowledged', count('acked')],
    ['refused', count('refused')],
    ['given up as too old', count('too_old')],
    ['interrupted', count('interrupted')],
  ] as const
  return said.flatMap(([what, number]) => (number === 0 ? [] : [`${number} ${what}`])).join(', ')
}

/** The worst of all copies. */
export function exitCodeOf(results: readonly PushResult[]): ExitCode {
  const has = (kind: PushResult['kind']) => results.some((result) => result.kind === kind)
  if (has('interrupted')) return EXIT.interrupted
  if (has('refused')) return EXIT.failure
  return has('too_old') ? EXIT.tooOld : EXIT.ok
}

/** The fields of one attempt in `--json`. What was answered is shown by its status; a body could hold anything. */
export function attemptDocument(attempt: PushAttempt): Record<string, unknown> {
  const { number, at, tookMs, answer } = attempt
  return {
    number,
    at: new Date(at).toISOString(),
    tookMs,
    answer: answer.kind,
    status: answer.kind === 'answered' ? answer.status : null,
    cause: answer.kind === 'failed' ? answer.cause : null,
  }
}
