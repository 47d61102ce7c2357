import type { AnswerOverrides } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { qstashScheme } from '../token-schemes.js'
import { definePreset } from './define-preset.js'
import { header } from './places.js'

const STOP = { status: 489, headers: { 'upstash-nonretryable-error': 'true' } } as const
const ANSWERS: AnswerOverrides = { malformed: STOP, conflict: STOP, tooLarge: STOP, encoded: STOP }

/** What can never be used goes to QStash's own dead letter queue at once. */
export function qstash(options: { readonly clockToleranceMs?: number } = {}): Preset {
  return definePreset({
    name: 'qstash',
    scheme: qstashScheme(options),
    decode: { whenForm: 'form', otherwise: 'json' },
    deliveryId: header('upstash-message-id'),
    senderAttempt: header('upstash-retried'),
    answers: ANSWERS,
    bodyLimitBytes: 2 * 1_048_576,
    horizonDays: 14,
    ack: { status: 200, timeoutS: 30, onConflict: 'refuse_409' },
  })
}
