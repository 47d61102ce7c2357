import { describe, expect, it } from 'vitest'
import { chooseKey, judgePush } from './permit-push.js'

const NOW = 1_000_000

describe('judgePush', () => {
  it.each([
    ['http://127.0.0.1:8080/push', 'live-1', 'free'],
    ['http://127.8.9.1/push', 'live-1', 'free'],
    ['http://localhost:8080/push', 'live-1', 'free'],
    ['http://[::1]:8080/push', 'live-1', 'free'],
    ['https://example.com/push', 'demo-1', 'free'],
    ['https://example.com/push', 'live-1', 'must_be_forced'],
    ['http://10.0.0.5/push', 'live-1', 'must_be_forced'],
    ['http://127.0.0.1.example.com/push', 'live-1', 'must_be_forced'],
    ['http://localhost.example.com/push', 'live-1', 'must_be_forced'],
    ['http://0.0.0.0/push', 'live-1', 'must_be_forced'],
  ])('%s with key %s is %s', (url, id, kind) => {
    expect(judgePush(new URL(url), { id }).kind).toBe(kind)
  })
})

describe('chooseKey', () => {
  const secret = Buffer.alloc(32)
  const keys = [
    { id: 'old', secret, notAfter: NOW - 1 },
    { id: 'now', secret },
    { id: 'next', secret, notBefore: NOW + 1 },
  ]
  it('takes the first that is active, or the one that was named', () => {
    expect(chooseKey(keys, null, NOW)?.id).toBe('now')
    expect(chooseKey(keys, 'next', NOW)?.id).toBe('next')
    expect(chooseKey(keys, 'none', NOW)).toBeNull()
  })
})
