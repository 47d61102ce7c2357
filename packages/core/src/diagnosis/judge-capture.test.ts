import { describe, expect, test } from 'vitest'
import { parseCapture } from '../capture/parse-capture.js'
import { NO_KEY_MATERIAL } from '../intake/key-material.js'
import { createHmacTimestamped } from '../intake/plain-hmac.js'
import type { SigningKey } from '../intake/push-request.js'
import { PLAIN_CONTRACT, type SourceContract } from '../intake/source-contract.js'
import { judgeCapture } from './judge-capture.js'

const NOW = 1_767_225_600_000
const KEY: SigningKey = { id: 'k1', secret: Buffer.from('a secret of the tests, 32 bytes!') }
const scheme = createHmacTimestamped({ signatureHeader: 'x-signature', timestampHeader: 'x-time' })

function sourceWith(changes: Partial<SourceContract> = {}): SourceContract {
  return {
    ...PLAIN_CONTRACT,
    name: 'tickets',
    path: '/in',
    publicUrl: null,
    verify: scheme.verify,
    sign: scheme.sign,
    binds: scheme.binds,
    keys: () => [KEY],
    deliveryId: { kind: 'header', header: 'x-id' },
    senderAttempt: null,
    eventType: { kind: 'pointer', pointer: '/type' },
    volatilePointers: [],
    maxAge: null,
    bodyLimitBytes: 1000,
    ack: {
      status: 204,
      body: null,
      fixedBody: null,
      senderTimeoutMs: 10_000,
      deadlineMs: 2_500,
      onConflict: 'accept',
      onMalformed: 'refuse_400',
    },
    redeliveryHorizonMs: 86_400_000,
    routes: new Map(),
    otherwise: null,
    ...changes,
  }
}

function capture(body = '{"type":"made"}', headers: Readonly<Record<string, string>> = { 'x-id': 'd-1' }) {
  const signed = scheme.sign({ method: 'POST', publicUrl: null, headers, rawBody: Buffer.from(body) }, KEY, NOW)
  const lines = Object.entries(signed.headers).map(([name, value]) => `${name}: ${value}`)
  const parsed = parseCapture(Buffer.from(`POST /in HTTP/1.1\n${lines.join('\n')}\n\n${body}`))
  if (parsed.kind === 'unreadable') throw new Error(parsed.why)
  return parsed
}

function judge(source: SourceContract, at: number, captured = capture()) {
  const newId = () => '00000000-0000-7000-8000-000000000001'
  return judgeCapture({ source, capture: captured, at, material: NO_KEY_MATERIAL, newId })
}

describe('a captured push', () => {
  test('that is valid says key, id, type and when it was signed', async () => {
    expect(await judge(sourceWith(), NOW)).toMatchObject({
      kind: 'valid',
      verified: { keyId: 'k1', bodyBound: true, signedAt: NOW },
      deliveries: [{ deliveryId: 'd-1', eventType: 'made' }],
    })
  })

  test.each([3_600_000, -3_600_000])('judged %i ms off is not valid, and was at its time', async (ageMs) => {
    expect(await judge(sourceWith(), NOW + ageMs)).toMatchObject({
      kind: 'invalid',
      cause: ageMs > 0 ? 'timestamp_stale' : 'timestamp_in_future',
      offTime: { signedAt: NOW, ageMs, validThen: true },
      findings: [],
    })
  })

  test('that is late and signed by a key of another time says both', async () => {
    const source = sourceWith({ keys: () => [{ ...KEY, notBefore: NOW + 1_800_000 }] })
    expect(await judge(source, NOW + 3_600_000)).toMatchObject({
      kind: 'invalid',
      cause: 'no_active_key',
      offTime: { validThen: false },
      findings: [{ codes: ['key_not_active_yet'] }],
    })
  })

  test('with the right signature and no id is unusable', async () => {
    const without = capture('{}', {})
    expect(await judge(sourceWith(), NOW, without)).toMatchObject({ kind: 'unusable', cause: 'delivery_id_missing' })
  })

  test('that comes before any signature is a handshake', async () => {
    const answer = { name: 'consent', status: 200, headers: {}, body: null }
    const source = sourceWith({
      handshakes: [{ when: 'before_verification', methods: ['OPTIONS'], answer: () => answer }],
    })
    const asked = { ...capture(), method: 'OPTIONS' }
    expect(await judge(source, NOW, asked)).toMatchObject({ kind: 'handshake', verified: null, name: 'consent' })
    expect(await judge(sourceWith(), NOW, asked)).toMatchObject({ kind: 'valid' })
  })

  test('whose keys are not to be had is not judged', async () => {
    const verify = () => ({ kind: 'unavailable' as const, cause: 'key_material_unavailable' as const, hint: 'away' })
    expect(await judge(sourceWith({ verify }), NOW)).toMatchObject({ kind: 'unjudged' })
  })
})
