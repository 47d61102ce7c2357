import type { AnswerOverrides, Handshake } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { slackScheme, type Tolerance } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { firstOf, header, pointer } from './places.js'
import { readText } from './read-text.js'

const MAX_CHALLENGE_CHARACTERS = 1_000

const challenge: Handshake = {
  when: 'after_verification',
  methods: ['POST'],
  answer: ({ document }) => {
    if (readText(document, 'type') !== 'url_verification') return null
    const text = readText(document, 'challenge')
    const name = 'url_verification'
    return text === null || text.length > MAX_CHALLENGE_CHARACTERS
      ? { name, status: 400, headers: {}, body: null }
      : { name, status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text }
  },
}

const STOP = { 'x-slack-no-retry': '1' } as const
const ANSWERS: AnswerOverrides = {
  malformed: { status: 400, headers: STOP },
  conflict: { status: 409, headers: STOP },
  tooLarge: { status: 413, headers: STOP },
}

/**
 * Slack's Events API; slash commands and interactions have their trigger as id. A notice of rate limiting has neither,
 * and is told by its minute.
 */
export function slack(options: Tolerance = {}): Preset {
  return definePreset({
    name: 'slack',
    scheme: slackScheme(options),
    decode: { whenForm: 'form_payload', otherwise: 'json' },
    handshakes: [challenge],
    deliveryId: firstOf(pointer('/event_id'), pointer('/trigger_id'), pointer('/minute_rate_limited')),
    senderAttempt: header('x-slack-retry-num'),
    eventType: firstOf(pointer('/event/type'), pointer('/command'), pointer('/type')),
    eventTime: pointer('/event_time'),
    answers: ANSWERS,
    horizonDays: 7,
    ack: { status: 200, timeoutS: 3, deadlineMs: 2_500 },
  })
}
