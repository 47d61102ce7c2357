import { describe, expect, test } from 'vitest'
import type { TokenReading } from './read-token.js'
import { readToken } from './read-token.js'
import { createTokenSource } from './token-source.js'

function source(...readings: TokenReading[]) {
  const clock = { now: 0 }
  let fetches = 0
  const tokens = createTokenSource(
    async () => {
      fetches += 1
      return readings[Math.min(fetches, readings.length) - 1] ?? { kind: 'failed', why: 'none' }
    },
    () => clock.now,
  )
  return { tokens, clock, fetches: () => fetches }
}
const token = (name: string, livesMs: number | null = 3_600_000): TokenReading => ({
  kind: 'token',
  token: name,
  livesMs,
})

describe('a token source', () => {
  test('makes one fetch for everybody who asks at once, and none while a token is good', async () => {
    const { tokens, fetches } = source(token('a'))
    const got = await Promise.all(Array.from({ length: 50 }, () => tokens.get()))
    expect(new Set(got.map((one) => one.kind === 'token' && one.held.token))).toEqual(new Set(['a']))
    expect(await tokens.get()).toMatchObject({ kind: 'token', isFresh: false })
    expect(fetches()).toBe(1)
  })

  test('asks anew before the token ends, and after five minutes where nobody said when', async () => {
    const { tokens, clock, fetches } = source(token('a', 3_600_000), token('b', null), token('c'))
    await tokens.get()
    clock.now = 3_569_999
    await tokens.get()
    expect(fetches()).toBe(1)
    clock.now = 3_570_000
    await tokens.get()
    expect(fetches()).toBe(2)
    clock.now += 300_000
    expect(await tokens.get()).toMatchObject({ held: { token: 'c' } })
  })

  test('drops a refused token, but never one that has already replaced it', async () => {
    const { tokens, fetches } = source(token('a'), token('b'))
    const first = await tokens.get()
    if (first.kind !== 'token') throw new Error('no token')
    tokens.drop(first.held)
    await tokens.get()
    tokens.drop(first.held)
    expect(await tokens.get()).toMatchObject({ held: { token: 'b' } })
    expect(fetches()).toBe(2)
  })

  test('tells a failure to everybody for a second, then asks again', async () => {
    const { tokens, clock, fetches } = source({ kind: 'failed', why: 'away' }, token('a'))
    expect(await tokens.get()).toEqual({ kind: 'failed', why: 'away' })
    expect(await tokens.get()).toEqual({ kind: 'failed', why: 'away' })
    expect(fetches()).toBe(1)
    clock.now = 1_000
    expect(await tokens.get()).toMatchObject({ kind: 'token' })
  })
})

describe('the answer of a token endpoint', () => {
  const read = (body: object | string, status = 200) =>
    readToken(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))

  test('is a bearer token and its life', () => {
    expect(read({ access_token: 'a.b-c', token_type: 'Bearer', expires_in: 3_599 })).toEqual({
      kind: 'token',
      token: 'a.b-c',
      livesMs: 3_599_000,
    })
    expect(read({ access_token: 'a', expires_in: '60' })).toMatchObject({ livesMs: 60_000 })
    expect(read({ access_token: 'a', expires_in: -1 })).toMatchObject({ livesMs: null })
  })

  test.each<[string, object | string, number]>([
    ['a refusal', { error: 'invalid_client', error_description: 's3cret' }, 401],
    ['a redirect', '', 302],
    ['a page', '<html>s3cret', 200],
    ['no token', { token: 's3cret' }, 200],
    ['a token that no header can carry', { access_token: 's3cret\r\nx: 1' }, 200],
    ['another kind of token', { access_token: 's3cret', token_type: 'mac' }, 200],
  ])('is a failure for %s, which quotes nothing of it (I10)', (_name, body, status) => {
    const reading = read(body, status)
    expect(reading.kind).toBe('failed')
    expect(JSON.stringify(reading)).not.toContain('s3cret')
  })
})
