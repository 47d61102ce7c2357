import { describe, expect, it } from 'vitest'
import type { PushRequest } from './push-request.js'
import { createHmacBodySigner, createHmacTimestampedSigner } from './sign-hmac.js'
import { createHmacBodyVerifier, createHmacTimestampedVerifier } from './verify-hmac.js'

const key = { id: 'demo-1', secret: Buffer.from('0123456789abcdef0123456789abcdef') }
const body = Buffer.from('{"a":1}')
const NOW = 1_764_500_000_123

function toRequest(headers: Readonly<Record<string, string>>, rawBody = body): PushRequest {
  const map = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]))
  return { method: 'POST', publicUrl: null, headers: map, rawBody }
}

describe('signing for a source', () => {
  it.each([
    { signatureHeader: 'X-Signature' },
    { signatureHeader: 'X-Signature', prefix: 'sha256=', encoding: 'base64' as const },
  ])('makes what the verifier of the same form accepts: %o', (options) => {
    const headers = createHmacBodySigner(options)(body, key, NOW)
    const verify = createHmacBodyVerifier(options)
    expect(verify(toRequest(headers), [key], NOW).kind).toBe('verified')
    expect(verify(toRequest(headers, Buffer.from('{"a":2}')), [key], NOW).kind).toBe('refused')
  })

  it.each(['s', 'ms'] as const)('binds the time in %s, so that a stale one is refused', (timestampUnit) => {
    const options = {
      signatureHeader: 'X-Signature',
      timestampHeader: 'X-Timestamp',
      timestampUnit,
      toleranceMs: 60_000,
    }
    const sign = createHmacTimestampedSigner(options)
    const verify = createHmacTimestampedVerifier(options)
    expect(verify(toRequest(sign(body, key, NOW)), [key], NOW)).toMatchObject({ kind: 'verified', keyId: 'demo-1' })
    expect(verify(toRequest(sign(body, key, NOW - 70_000)), [key], NOW)).toMatchObject({ cause: 'timestamp_stale' })
  })
})
