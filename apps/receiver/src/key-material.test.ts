import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { type FetchedText, type FetchText, fetchText } from './fetch-text.js'
import { confirmByVisit, openKeyMaterial } from './open-key-material.js'

const SET_URL = 'https://issuer.test/keys'
const keySetOf = (...kids: string[]): FetchedText => ({
  kind: 'fetched',
  text: JSON.stringify({ keys: kids.map((kid) => ({ kty: 'RSA', kid })) }),
})

/** Key material over scripted fetches and a clock that is moved by hand. */
function open(script: (url: string) => FetchedText) {
  const fetched: string[] = []
  let now = 0
  const fetch: FetchText = async (url) => {
    fetched.push(url)
    return script(url)
  }
  const material = openKeyMaterial({ log: pino({ level: 'silent' }), fetchText: fetch, now: () => now })
  return { ...material, fetched, pass: (ms: number) => (now += ms) }
}

describe('the key set of an issuer', () => {
  it('is fetched once for everybody who asks, then comes at once', async () => {
    const { keySet, fetched } = open(() => keySetOf('a'))
    const readings = await Promise.all([keySet(SET_URL, 'a'), keySet(SET_URL, 'a'), keySet(SET_URL, 'b')])
    expect(readings.map(({ kind }) => kind)).toEqual(['found', 'found', 'found'])
    expect(keySet(SET_URL, 'a')).not.toBeInstanceOf(Promise)
    expect(fetched).toHaveLength(1)
  })

  it('is not fetched more often for invented key ids than once per cooldown', async () => {
    const { keySet, fetched, pass } = open(() => keySetOf('a'))
    for (let invented = 0; invented < 1000; invented += 1) {
      expect(await keySet(SET_URL, `invented-${invented}`)).toMatchObject({ kind: 'found' })
    }
    expect(fetched).toHaveLength(1)
    pass(30_000)
    await keySet(SET_URL, 'another')
    expect(fetched).toHaveLength(2)
  })

  it('shows a new key once the cooldown is over', async () => {
    let kids = ['a']
    const { keySet, pass } = open(() => keySetOf(...kids))
    await keySet(SET_URL, 'a')
    kids = ['a', 'b']
    pass(30_000)
    expect(await keySet(SET_URL, 'b')).toMatchObject({ keys: [{ kid: 'a' }, { kid: 'b' }] })
  })

  it('that is not to be had is missing, never "no such key", also for who asks during the cooldown', async () => {
    let answer: FetchedText = { kind: 'failed', cause: 'timeout' }
    const { keySet, fetched, pass } = open(() => answer)
    expect(await keySet(SET_URL, 'a')).toEqual({ kind: 'missing', cause: 'timeout' })
    expect(await keySet(SET_URL, 'a')).toEqual({ kind: 'missing', cause: 'timeout' })
    expect(fetched).toHaveLength(1)
    pass(30_000)
    answer = keySetOf('a')
    expect(await keySet(SET_URL, 'a')).toMatchObject({ kind: 'found' })
  })

  it('of yesterday serves while the issuer is away, and unknown keys are missing then', async () => {
    let answer = keySetOf('a')
    const { keySet, pass } = open(() => answer)
    await keySet(SET_URL, 'a')
    answer = { kind: 'failed', cause: 'http_500' }
    pass(3 * 3_600_000)
    expect(await keySet(SET_URL, 'a')).toMatchObject({ kind: 'found' })
    expect(await keySet(SET_URL, 'b')).toEqual({ kind: 'missing', cause: 'http_500' })
    pass(24 * 3_600_000)
    expect(await keySet(SET_URL, 'a')).toEqual({ kind: 'missing', cause: 'http_500' })
  })

  it.each(['', 'no JSON', '{}', '{"keys":[]}', '{"keys":[1]}', '[]'])('that reads %j is none', async (text) => {
    const { keySet } = open(() => ({ kind: 'fetched', text }))
    expect(await keySet(SET_URL, 'a')).toEqual({ kind: 'missing', cause: 'not_a_key_set' })
  })
})

describe('certificates', () => {
  const url = (n: number) => `https://sns.us-east-1.amazonaws.com/SimpleNotificationService-${n}.pem`

  it('that are invented are fetched within a budget, whoever asks', async () => {
    const { certificate, fetched, pass } = open(() => ({ kind: 'failed', cause: 'http_403' }))
    for (let n = 0; n < 100; n += 1) await certificate(url(n))
    expect(fetched).toHaveLength(8)
    expect(await certificate(url(0))).toEqual({ kind: 'missing', cause: 'http_403' })
    expect(await certificate(url(99))).toEqual({ kind: 'missing', cause: 'too_many_unknown_certificates' })
    pass(10_000)
    await certificate(url(99))
    expect(fetched).toHaveLength(9)
  })

  it('that are none are missing', async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()
    const { certificate } = open(() => ({ kind: 'fetched', text: pem }))
    expect(await certificate(url(1))).toEqual({ kind: 'missing', cause: 'not_a_certificate' })
  })
})

describe('fetching', () => {
  let server: Server
  const serve = async (listener: Parameters<typeof createServer>[1]) => {
    server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }
  const LIMITS = { timeoutMs: 300, maxBytes: 1000 }

  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  it('takes a small document', async () => {
    const at = await serve((_request, response) => response.end('keys'))
    expect(await fetchText(at, LIMITS)).toEqual({ kind: 'fetched', text: 'keys' })
    expect(await confirmByVisit(at)).toBe(null)
  })

  it('follows no redirect', async () => {
    const at = await serve((_request, response) => response.writeHead(302, { location: '/x' }).end())
    expect(await fetchText(at, LIMITS)).toMatchObject({ kind: 'failed' })
  })

  it('takes no more bytes than it may, whether they are announced or not', async () => {
    const at = await serve((_request, response) => {
      response.write('x'.repeat(600))
      response.end('x'.repeat(600))
    })
    expect(await fetchText(at, LIMITS)).toEqual({ kind: 'failed', cause: 'too_large' })
  })

  it('waits no longer than it may, for the headers or for the rest', async () => {
    const at = await serve((request, response) => {
      if (request.url === '/slow') response.write('x')
    })
    expect(await fetchText(at, LIMITS)).toEqual({ kind: 'failed', cause: 'timeout' })
    expect(await fetchText(`${at}slow`, LIMITS)).toEqual({ kind: 'failed', cause: 'timeout' })
  })

  it('tells a status, and goes nowhere without TLS but to this machine', async () => {
    const at = await serve((_request, response) => response.writeHead(503).end())
    expect(await fetchText(at, LIMITS)).toEqual({ kind: 'failed', cause: 'http_503' })
    expect(await fetchText('http://issuer.test/keys', LIMITS)).toEqual({ kind: 'failed', cause: 'not_https' })
    expect(await fetchText('nonsense', LIMITS)).toEqual({ kind: 'failed', cause: 'not_https' })
  })
})
