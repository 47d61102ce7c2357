import { describe, expect, it } from 'vitest'
import { createHmacBody, createHmacTimestamped } from './plain-hmac.js'
import { arriving } from './testing/requests.js'

const key = { id: 'demo-1', secret: Buffer.from('0123456789abcdef0123456789abcdef') }
const body = Buffer.from('{"a":1}')
const NOW = 1_764_500_000_123

const push = { method: 'POST', publicUrl: null, headers: {}, rawBody: body }

describe('signing for a source', () => {
  it.each([
    { signatureHeader: 'X-Signature' },
    { signatureHeader: 'X-Signature', prefix: 'sha256=', encoding: 'base64' as const },
  ])('makes what the verifier of the same form accepts: %o', (options) => {
    const { sign, verify } = createHmacBody(options)
    const signed = sign(push, key, NOW)
    expect(verify(arriving(signed), [key], NOW).kind).toBe('verified')
    expect(verify(arriving({ ...signed, rawBody: Buffer.from('{"a":2}') }), [key], NOW).kind).toBe('refused')
  })

  it.each(['s', 'ms'] as const)('binds the time in %s, so that a stale one is refused', (timestampUnit) => {
    const options = {
      signatureHeader: 'X-Signature',
      timestampHeader: 'X-Timestamp',
      timestampUnit,
      toleranceMs: 60_000,
    }
    const { sign, verify } = createHmacTimestamped(options)
    expect(verify(arriving(sign(push, key, NOW)), [key], NOW)).toMatchObject({ kind: 'verified', keyId: 'demo-1' })
    expect(verify(arriving(sign(push, key, NOW - 70_000)), [key], NOW)).toMatchObject({ cause: 'timestamp_stale' })
  })
})
