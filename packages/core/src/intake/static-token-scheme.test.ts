import { describe, expect, test } from 'vitest'
import type { SigningKey } from './push-request.js'
import { createStaticTokenScheme } from './static-token-scheme.js'
import { request } from './testing/requests.js'

const NOW = 1_767_225_600_000
const keys: readonly SigningKey[] = [
  { id: 'new', secret: Buffer.from('k-test-1') },
  { id: 'old', secret: Buffer.from('k-test-0') },
]
const body = Buffer.from('{}')

describe('a token in a header', () => {
  const { verify } = createStaticTokenScheme({ kind: 'header', header: 'X-Api-Key' })
  const judge = (value: string | readonly string[]) => verify(request({ 'x-api-key': value }, body), keys, NOW)

  test('either key, and the content is not bound', () => {
    expect(judge('k-test-1')).toEqual({ kind: 'verified', keyId: 'new', bodyBound: false, signedAt: null })
    expect(judge('k-test-0')).toMatchObject({ keyId: 'old' })
  })

  test.each([
    ['', 'token_missing'],
    ['k-test-', 'token_mismatch'],
    ['k-test-10', 'token_mismatch'],
    ['K-TEST-1', 'token_mismatch'],
    [['k-test-1', 'k-test-1'], 'token_repeated'],
    ['k'.repeat(5000), 'token_malformed'],
  ])('%j: %s', (value, cause) => {
    expect(judge(value)).toMatchObject({ kind: 'refused', cause })
  })

  test('an empty secret lets nobody in', () => {
    expect(verify(request({ 'x-api-key': 'x' }, body), [{ id: 'e', secret: Buffer.alloc(0) }], NOW)).toMatchObject({
      kind: 'unavailable',
    })
  })
})

test('after a prefix of an authentication scheme, in any case', () => {
  const { verify } = createStaticTokenScheme({ kind: 'header', header: 'authorization', prefix: 'Bearer ' })
  const judge = (value: string) => verify(request({ authorization: value }, body), keys, NOW).kind
  expect([judge('Bearer k-test-1'), judge('bearer k-test-1'), judge('k-test-1')]).toEqual([
    'verified',
    'verified',
    'refused',
  ])
})

test('in the query: once, decoded, whatever else is there', () => {
  const { verify } = createStaticTokenScheme({ kind: 'query', parameter: 'key' })
  const judge = (query: string) => verify(request({}, body, { query }), keys, NOW)
  expect(judge('?a=1&key=k%2Dtest-1')).toMatchObject({ kind: 'verified' })
  expect(judge('?key=k-test-1&key=k-test-1')).toMatchObject({ cause: 'token_repeated' })
  expect(judge('?key=')).toMatchObject({ cause: 'token_missing' })
  expect(judge('')).toMatchObject({ cause: 'token_missing' })
})

test('basic: user and password as one secret, in canonical base64 only', () => {
  const { verify } = createStaticTokenScheme({ kind: 'basic' })
  const pair: SigningKey = { id: 'p', secret: Buffer.from('user:password') }
  const judge = (value: string) => verify(request({ authorization: value }, body), [pair], NOW)
  expect(judge(`Basic ${Buffer.from('user:password').toString('base64')}`)).toMatchObject({ kind: 'verified' })
  expect(judge(`Basic ${Buffer.from('user:other').toString('base64')}`)).toMatchObject({ cause: 'token_mismatch' })
  expect(judge('Basic user:password')).toMatchObject({ cause: 'token_malformed' })
})
