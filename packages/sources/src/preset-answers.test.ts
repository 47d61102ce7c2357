import { describe, expect, test } from 'vitest'
import type { Preset } from './preset.js'
import * as presets from './presets.js'
import { GOOGLE } from './testing/signing.js'

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders'

/** Success, same id with other content, unusable, not believed, too large; then timeout (s) and horizon (days). */
const ROWS: readonly [Preset, number, number | 'kept', number | 'kept', number, number, number, number][] = [
  [presets.standardWebhooks(), 204, 204, 400, 401, 413, 15, 30],
  [presets.github(), 204, 204, 400, 401, 413, 10, 30],
  [presets.stripe(), 204, 204, 400, 401, 413, 10, 35],
  [presets.slack(), 200, 200, 400, 401, 413, 3, 7],
  [presets.shopify(), 204, 204, 400, 401, 413, 5, 7],
  [presets.zendesk(), 204, 204, 400, 401, 413, 10, 7],
  [presets.intercom(), 200, 200, 400, 401, 413, 5, 14],
  [presets.hubspot(), 200, 200, 'kept', 401, 413, 5, 7],
  [presets.twilio(), 204, 204, 400, 401, 413, 15, 7],
  [presets.pubsub(GOOGLE), 204, 204, 'kept', 401, 413, 10, 35],
  [presets.cloudTasks(GOOGLE), 200, 200, 'kept', 401, 413, 15, 35],
  [presets.sns({ topicArns: [TOPIC] }), 200, 200, 'kept', 403, 413, 15, 7],
  [presets.eventBridge(), 200, 200, 400, 401, 413, 5, 35],
  [presets.qstash(), 200, 489, 489, 401, 489, 30, 14],
  [presets.eventGrid(), 200, 200, 400, 401, 413, 30, 7],
  [presets.cloudEvents(), 202, 202, 400, 401, 413, 30, 7],
  [presets.cloudflare(), 200, 200, 400, 401, 413, 10, 7],
]

describe('what a sender is told', () => {
  test.each(ROWS.map((row) => [row[0].name, row] as const))('%s', (_name, row) => {
    const [{ contract }, success, conflict, unusable, unverified, tooLarge, timeoutS, horizonDays] = row
    const { ack, answers } = contract
    expect(ack.status).toBe(success)
    expect(ack.onConflict === 'accept' ? ack.status : (answers.conflict?.status ?? 409)).toBe(conflict)
    expect(ack.onMalformed === 'quarantine' ? 'kept' : (answers.malformed?.status ?? 400)).toBe(unusable)
    expect(answers.unverified?.status ?? 401).toBe(unverified)
    expect(answers.tooLarge?.status ?? 413).toBe(tooLarge)
    expect(ack.senderTimeoutMs).toBe(timeoutS * 1_000)
    expect(ack.deadlineMs).toBeLessThan(ack.senderTimeoutMs)
    expect(ack.deadlineMs).toBeLessThanOrEqual(2_500)
    expect(contract.redeliveryHorizonMs).toBe(horizonDays * 86_400_000)
  })

  test('every preset is in the table', () => {
    const made = Object.entries(presets).filter(([name, value]) => typeof value === 'function' && !/Auth/.test(name))
    expect(new Set(made.map(([name]) => name))).toEqual(new Set([...ROWS.map(([{ name }]) => name), 'svix']))
  })

  test('SNS takes a 4xx as delivered, so an encoded body is answered with what it tries again', () => {
    expect(presets.sns({ topicArns: [TOPIC] }).contract.answers.encoded).toEqual({ status: 503 })
  })

  test('a stop signal goes with what can never be used', () => {
    expect(presets.slack().contract.answers.malformed?.headers).toEqual({ 'x-slack-no-retry': '1' })
    expect(presets.svix().contract.answers.malformed?.headers).toEqual({ 'webhook-delivery': 'abort-message' })
    expect(presets.qstash().contract.answers.malformed?.headers).toEqual({ 'upstash-nonretryable-error': 'true' })
  })
})
