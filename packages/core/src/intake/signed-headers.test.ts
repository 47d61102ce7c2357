import { describe, expect, test } from 'vitest'
import { decodeKey } from './decode-key.js'
import { createHmacScheme } from './hmac-scheme.js'
import type { PushRequest, SigningKey } from './push-request.js'
import { arriving, request } from './testing/requests.js'

const NOW_S = 1_767_225_600
const NOW = NOW_S * 1000
const body = Buffer.from('{"a":1}')

describe('pairs: t=,v1=,v1= (rotation: several signatures in one header)', () => {
  const { verify } = createHmacScheme({
    parts: ['timestamp', { text: '.' }, 'body'],
    headers: { signature: 'stripe-signature' },
    grammar: { kind: 'pairs', separator: ',', signature: 'v1', timestamp: 't' },
  })
  const fresh: SigningKey = { id: 'new', secret: Buffer.from('whsec_new') }
  const byOld = 'e15988dd657908f5f50b210bf7812c249418fdab57c4a25c7e32b31e8dfb90a2'
  const byNew = 'a2a8150cdfb07690569d2f1d98d7ed40d85f6acc2ccc521f278f6a915f58e0bc'
  const judge = (header: string, keys = [fresh]) => verify(request({ 'stripe-signature': header }, body), keys, NOW)

  test('either order, and the key that matched is told (case B014: several signatures in one header while a key changes)', () => {
    expect(judge(`t=${NOW_S},v1=${byNew},v1=${byOld}`)).toMatchObject({ kind: 'verified', keyId: 'new', signedAt: NOW })
    expect(judge(`t=${NOW_S},v1=${byOld},v1=${byNew}`)).toMatchObject({ kind: 'verified' })
    expect(judge(`v1=${byNew},t=${NOW_S}`)).toMatchObject({ kind: 'verified' })
  })

  test.each([
    ['another version only', `t=${NOW_S},v0=${byNew}`, 'signature_version_unknown'],
    ['the old signature only', `t=${NOW_S},v1=${byOld}`, 'signature_mismatch'],
    ['two times', `t=${NOW_S},t=${NOW_S + 1},v1=${byNew}`, 'timestamp_repeated'],
    ['no time', `v1=${byNew}`, 'timestamp_missing'],
    ['an empty time', `t=,v1=${byNew}`, 'timestamp_missing'],
    ['a time that is no number', `t=NaN,v1=${byNew}`, 'timestamp_malformed'],
    ['white space', `t=${NOW_S}, v1=${byNew}`, 'signature_version_unknown'],
    ['17 signatures', `t=${NOW_S}${`,v1=${byOld}`.repeat(16)},v1=${byNew}`, 'signature_malformed'],
    ['500 signatures', `t=${NOW_S}${`,v1=${byNew}`.repeat(500)}`, 'signature_malformed'],
    ['no pair at all', 'nonsense', 'signature_malformed'],
  ])('%s: refused (case B014: several signatures in one header while a key changes)', (_title, header, cause) => {
    expect(judge(header)).toMatchObject({ kind: 'refused', cause })
  })
})

describe('list with a signed id (several families of names)', () => {
  const scheme = createHmacScheme({
    parts: ['id', { text: '.' }, 'timestamp', { text: '.' }, 'body'],
    headers: [
      { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' },
      { id: 'svix-id', timestamp: 'svix-timestamp', signature: 'svix-signature' },
    ],
    grammar: { kind: 'list', separator: ' ', prefix: 'v1,' },
    encoding: 'base64',
  })
  const decoded = decodeKey('whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3', 'whsec')
  const key: SigningKey = { id: 'k', secret: decoded.kind === 'key' ? decoded.bytes : Buffer.alloc(0) }
  const good = 'v1,QqejXOdQWvQu7h9vBmESPVUOBgBJtEXLLoHXAzfUlCM='
  const headers = { 'webhook-id': 'msg_test_1', 'webhook-timestamp': String(NOW_S), 'webhook-signature': good }
  const judge = (given: Record<string, string | readonly string[]>) => scheme.verify(request(given, body), [key], NOW)
  const as = (family: string, from: Record<string, string> = headers) =>
    Object.fromEntries(Object.entries(from).map(([name, value]) => [name.replace('webhook', family), value]))

  test.each([
    ['alone', {}],
    ['after one that is wrong', { 'webhook-signature': `v1,${'A'.repeat(43)}= ${good}` }],
    ['after one that is no base64', { 'webhook-signature': `v1,BAD ${good}` }],
    ['after one of another version', { 'webhook-signature': `v1a,AAAA ${good}` }],
  ])(
    'the right signature %s: verified (case B015: lists, prefixes and repeated lines of a signature)',
    (_title, changes) => {
      expect(judge({ ...headers, ...changes })).toMatchObject({ kind: 'verified', keyId: 'k' })
    },
  )

  test('either family, and both when they say the same (case B015: lists, prefixes and repeated lines of a signature)', () => {
    expect(judge(as('svix'))).toMatchObject({ kind: 'verified' })
    expect(judge({ ...headers, ...as('svix') })).toMatchObject({ kind: 'verified' })
  })

  test('a mix is refused: all three of one family, and nothing else of the other (case B015: lists, prefixes and repeated lines of a signature)', () => {
    const { 'webhook-id': id, ...rest } = headers
    expect(judge({ ...rest, 'svix-id': id })).toMatchObject({ cause: 'headers_mixed' })
    expect(judge(rest)).toMatchObject({ cause: 'signed_id_missing' })
    expect(judge({ ...headers, 'svix-id': 'msg_other' })).toMatchObject({ cause: 'headers_mixed' })
  })

  test('an id that could end elsewhere is refused, however it is signed', () => {
    const push = { method: 'POST', publicUrl: null, headers: { 'webhook-id': 'msg.1' }, rawBody: body }
    const signed = arriving(scheme.sign(push, key, NOW))
    expect(scheme.verify(signed, [key], NOW)).toMatchObject({ cause: 'signed_id_malformed' })
  })

  test('two header lines are refused, also when one is right (case B015: lists, prefixes and repeated lines of a signature)', () => {
    expect(judge({ ...headers, 'webhook-signature': ['v1,BAD', good] })).toMatchObject({ cause: 'signature_repeated' })
    expect(judge({ ...headers, 'webhook-id': ['msg_test_1', 'msg_test_1'] })).toMatchObject({
      cause: 'signed_id_malformed',
    })
  })
})

describe('configured keys', () => {
  test.each([
    ['v1,whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3', 'whsec', /signature version/],
    ['whsec_not base64', 'whsec', /not base64 after whsec_/],
    ['not base64', 'whsec', /not base64/],
    ['whpk_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3', 'whsec', /whpk_ key where a whsec_ key belongs/],
    ['whpk_AAAA', 'whpk', /3 bytes.*32/],
    ['zz', 'hex', /not hex/],
  ] as const)(
    '%s as %s says what is wrong and shows nothing (case B015: lists, prefixes and repeated lines of a signature)',
    (text, encoding, why) => {
      const decoded = decodeKey(text, encoding)
      expect(decoded).toMatchObject({ kind: 'unusable', why: expect.stringMatching(why) })
      expect(JSON.stringify(decoded)).not.toContain('MDEy')
    },
  )

  test('with and without its prefix it is the same key', () => {
    expect(decodeKey('MDEyMw==', 'whsec')).toEqual(decodeKey('whsec_MDEyMw==', 'whsec'))
    expect(decodeKey('MDEyMw==', 'utf8')).toMatchObject({ bytes: Buffer.from('MDEyMw==') })
  })
})

describe('the URL that is signed', () => {
  const { verify, sign } = createHmacScheme({
    parts: ['method', 'url', 'body'],
    headers: { signature: 'x-signature' },
    grammar: { kind: 'single', prefix: '' },
  })
  const key: SigningKey = { id: 'k', secret: Buffer.from('a secret') }
  const push = { method: 'POST', publicUrl: 'https://a.test/x?y=1', headers: {}, rawBody: body }
  const signed = (): PushRequest => arriving(sign(push, key, NOW))

  test('method, URL and query count', () => {
    expect(verify(signed(), [key], NOW)).toMatchObject({ kind: 'verified', signedAt: null })
    expect(verify({ ...signed(), method: 'PUT' }, [key], NOW)).toMatchObject({ cause: 'signature_mismatch' })
    expect(verify({ ...signed(), publicUrl: 'https://a.test/x?y=2' }, [key], NOW).kind).toBe('refused')
  })

  test('without a configured URL nothing can be judged', () => {
    expect(verify({ ...signed(), publicUrl: null }, [key], NOW)).toMatchObject({ kind: 'unavailable' })
  })
})
