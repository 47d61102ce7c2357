import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { classify, type DestinationContract, type Sent } from '@counterfoil/core'
import { afterEach, describe, expect, test } from 'vitest'
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from '../testing/localhost-certificate.js'
import { makeContract, makeEntry } from '../testing/make-entry.js'
import { answer, type Peer, type PeerScript, startPeer } from '../testing/start-peer.js'
import { type Downstream, openDownstream } from './send-downstream.js'

const peers: Peer[] = []
const ways: Downstream[] = []

async function peer(script: PeerScript): Promise<Peer> {
  const started = await startPeer(script)
  peers.push(started)
  return started
}

function open(url: string, over: Partial<DestinationContract> = {}, lookup?: LookupFunction): Downstream {
  const way = openDownstream(makeContract({ url, ...over }), lookup)
  ways.push(way)
  return way
}

function sendOnce(url: string, over: Partial<DestinationContract> = {}, lookup?: LookupFunction): Promise<Sent> {
  return open(url, over, lookup).send(makeEntry(), Number.POSITIVE_INFINITY)
}

function outcomeOf(sent: Sent): string {
  const outcome = classify(sent, makeContract(), Date.now())
  return outcome.kind
}

afterEach(async () => {
  await Promise.all(ways.splice(0).map((way) => way.close()))
  await Promise.all(peers.splice(0).map((one) => one.close()))
})

const resolvesTo =
  (...addresses: string[]): LookupFunction =>
  (_hostname, options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    const first = found[0]
    if (options.all || first === undefined) callback(null, found)
    else callback(null, first.address, first.family)
  }

const failsWith =
  (code: string): LookupFunction =>
  (hostname, _options, callback) =>
    callback(Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { code }), '', 0)

/** Bytes that are no answer, or not all of one. */
const raw = (text: string) => ({ onRequest: (socket: { write(text: string): unknown }) => void socket.write(text) })

describe('nothing left the process: not_sent', () => {
  const rows: { name: string; code: RegExp; send: () => Promise<Sent> }[] = [
    {
      name: 'connection refused',
      code: /^ECONNREFUSED$/,
      send: async () => {
        const gone = await startPeer({})
        await gone.close()
        return sendOnce(gone.url)
      },
    },
    {
      name: 'the name is unknown',
      code: /^ENOTFOUND$/,
      send: () => sendOnce('http://crm.invalid/', {}, failsWith('ENOTFOUND')),
    },
    {
      name: 'the resolver is away',
      code: /^EAI_AGAIN$/,
      send: () => sendOnce('http://crm.invalid/', {}, failsWith('EAI_AGAIN')),
    },
    {
      name: 'TLS handshake never ends',
      code: /^UND_ERR_CONNECT_TIMEOUT$/,
      send: async () => sendOnce((await peer({})).url.replace('http:', 'https:')),
    },
    {
      name: 'plain HTTP on a TLS port',
      code: /^ERR_SSL_WRONG_VERSION_NUMBER$/,
      send: async () => {
        const plain = await peer({ onConnection: (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') })
        return sendOnce(plain.url.replace('http:', 'https:'))
      },
    },
    {
      name: 'the server closes inside the TLS handshake',
      code: /^ECONNRESET$/,
      send: async () => {
        const closing = await peer({ onConnection: (socket) => void socket.once('data', () => socket.destroy()) })
        return sendOnce(closing.url.replace('http:', 'https:'))
      },
    },
    {
      name: 'self-signed certificate',
      code: /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
      send: async () => {
        const tls = { cert: LOCALHOST_CERTIFICATE, key: LOCALHOST_KEY }
        return sendOnce((await peer({ tls, onRequest: (socket) => void socket.write(answer(200)) })).url)
      },
    },
  ]
  test.each(rows)('$name', async ({ code, send }) => {
    const sent = await send()
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: false, step: 'connect' })
    expect(sent).toHaveProperty('code', expect.stringMatching(code))
    expect(outcomeOf(sent)).toBe('not_sent')
  })

  test('a name with two dead addresses names both of them (case B079: errors of several addresses)', async () => {
    const gone = await startPeer({})
    await gone.close()
    const sent = await sendOnce(`http://crm.invalid:${gone.port}/`, {}, resolvesTo('127.0.0.1', '127.0.0.2'))
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: false, code: 'ECONNREFUSED' })
    expect(sent).toHaveProperty('message', expect.stringMatching(/127\.0\.0\.1.*127\.0\.0\.2/))
  })

  test('I4: after its time no byte of an entry leaves, also when a socket is ready', async () => {
    const silent = await peer({})
    const way = open(silent.url)
    const sent = await way.send(makeEntry(), performance.now() - 1)
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: false, code: 'ERR_COUNTERFOIL_LEASE_ENDED' })
    expect(outcomeOf(sent)).toBe('not_sent')
    expect(silent.bytes()).toBe(0)
  })

  test('a stop while the connection is still being made ends the attempt at once', async () => {
    const mute = await peer({})
    const way = open(mute.url.replace('http:', 'https:'), {
      timeouts: { connectMs: 5_000, headersMs: 500, bodyMs: 500, totalMs: 9_000 },
    })
    const sending = way.send(makeEntry(), Number.POSITIVE_INFINITY)
    way.giveUp()
    expect(await sending).toMatchObject({ kind: 'failed', headersHandedOver: false, code: 'ERR_COUNTERFOIL_STOPPING' })
  })

  test('a header that cannot be written is our own fault, not a reason to try again (case B082: header values out of data)', async () => {
    const sent = await sendOnce('http://127.0.0.1:9/', { headers: { 'x-broken': 'a\r\nx-evil: 1' } })
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: false })
    expect(classify(sent, makeContract(), 0)).toMatchObject({ kind: 'rejected', reason: 'unsendable' })
  })
})

describe('bytes may have left and no answer came: uncertain', () => {
  const rows: { name: string; code: RegExp; script: PeerScript }[] = [
    {
      name: 'reads the request and closes',
      code: /^UND_ERR_SOCKET$/,
      script: { onRequest: (socket) => void socket.end() },
    },
    {
      name: 'reads the request and resets',
      code: /^(ECONNRESET|UND_ERR_SOCKET)$/,
      script: { onRequest: (socket) => void socket.resetAndDestroy() },
    },
    { name: 'reads the request and never answers', code: /^UND_ERR_HEADERS_TIMEOUT$/, script: {} },
    {
      name: 'answers something that is not HTTP',
      code: /^HPE_|^HTTPParserError$/,
      script: raw('SSH-2.0-nobody\r\n\r\n'),
    },
    {
      name: 'sends half a status line and closes',
      code: /./,
      script: { onRequest: (socket) => void socket.end('HTTP/1.1 20') },
    },
    {
      name: 'answers headers without end',
      code: /^UND_ERR_HEADERS_OVERFLOW$/,
      script: raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`),
    },
    {
      name: 'answers 100 Continue, which nobody asked for',
      code: /^UND_ERR_SOCKET$/,
      script: raw('HTTP/1.1 100 Continue\r\n\r\n'),
    },
    {
      name: 'drips its headers for ever',
      code: /^(UND_ERR_HEADERS_TIMEOUT|ERR_COUNTERFOIL_TOTAL_TIMEOUT)$/,
      script: {
        onRequest: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n')
          const drip = setInterval(() => socket.write('x-drip: 1\r\n'), 100)
          socket.on('close', () => clearInterval(drip))
        },
      },
    },
  ]
  test.each(rows)('$name', async ({ code, script }) => {
    const rude = await peer(script)
    const sent = await sendOnce(rude.url)
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: true })
    expect(sent).toHaveProperty('code', expect.stringMatching(code))
    expect(outcomeOf(sent)).toBe('uncertain')
    expect(rude.bytes()).toBeGreaterThan(0)
    expect(rude.connections()).toBe(1)
  })

  test('a reset at accept is never called sent without the marker, nor not sent with it (case B076: reset of a reused socket)', async () => {
    const resetting = await peer({ onConnection: (socket) => void socket.resetAndDestroy() })
    const sent = await sendOnce(resetting.url)
    expect(sent.kind).toBe('failed')
    if (sent.kind === 'failed') expect(outcomeOf(sent)).toBe(sent.headersHandedOver ? 'uncertain' : 'not_sent')
  })

  test('a stop while the answer is awaited', async () => {
    const silent = await peer({ onRequest: () => way.giveUp() })
    const way = open(silent.url)
    const sent = await way.send(makeEntry(), Number.POSITIVE_INFINITY)
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: true, code: 'ERR_COUNTERFOIL_STOPPING' })
  })

  test('the total deadline ends what every other time-out lets pass', async () => {
    const silent = await peer({})
    const sent = await sendOnce(silent.url, {
      timeouts: { connectMs: 500, headersMs: 60_000, bodyMs: 60_000, totalMs: 300 },
    })
    expect(sent).toMatchObject({
      kind: 'failed',
      headersHandedOver: true,
      code: 'ERR_COUNTERFOIL_TOTAL_TIMEOUT',
      step: 'total',
    })
    expect(sent.durationMs).toBeLessThan(1_000)
  })
})

describe('a status line decides, whatever becomes of the body', () => {
  const rows: { name: string; script: PeerScript }[] = [
    {
      name: 'reset in the body',
      script: {
        onRequest: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
          setTimeout(() => socket.resetAndDestroy(), 50)
        },
      },
    },
    { name: 'bad chunking', script: raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n') },
    {
      name: 'cut chunks',
      script: {
        onRequest: (socket) => void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhal'),
      },
    },
    { name: 'a body that stops', script: raw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf') },
    {
      name: 'a body that drips past the total deadline',
      script: {
        onRequest: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
          const drip = setInterval(() => socket.write('x'), 100)
          socket.on('close', () => clearInterval(drip))
        },
      },
    },
  ]
  test.each(rows)('$name: accepted, body lost (case B076: reset of a reused socket)', async ({ script }) => {
    const sent = await sendOnce((await peer(script)).url)
    expect(sent).toMatchObject({ kind: 'answered', status: 200, body: null })
    expect(outcomeOf(sent)).toBe('accepted')
  })

  test('a body beyond the cap is cut and its socket is not kept', async () => {
    const big = await peer({ onRequest: (socket) => void socket.write(answer(503, 'x'.repeat(200_000))) })
    const way = open(big.url)
    for (let round = 0; round < 20; round += 1) {
      const sent = await way.send(makeEntry(), Number.POSITIVE_INFINITY)
      expect(sent).toMatchObject({ kind: 'answered', status: 503, bodyTruncated: true })
      expect(sent).toHaveProperty('body.length', 1_024)
    }
    expect(big.openNow()).toBeLessThanOrEqual(4)
  })

  test('early hints before the answer are not the answer', async () => {
    const sent = await sendOnce((await peer(raw(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${answer(422)}`))).url)
    expect(sent).toMatchObject({ kind: 'answered', status: 422 })
  })

  test('a redirect is reported, never followed (case B070: redirect that leaks)', async () => {
    const other = await peer({ onRequest: (socket) => void socket.write(answer(200)) })
    const first = await peer({ onRequest: (socket) => void socket.write(answer(307, '', [`location: ${other.url}`])) })
    const sent = await sendOnce(first.url)
    expect(sent).toMatchObject({ kind: 'answered', status: 307 })
    expect(outcomeOf(sent)).toBe('rejected')
    expect(other.connections()).toBe(0)
  })

  test('only the headers that rules read are kept, a repeated one joined', async () => {
    const sent = await sendOnce(
      (
        await peer(
          raw(
            answer(429, '', [
              'retry-after: 3',
              'set-cookie: a=1',
              'x-secret: s',
              'Idempotent-Replayed: true',
              '__proto__: x',
            ]),
          ),
        )
      ).url,
    )
    expect(sent).toMatchObject({ kind: 'answered', headers: { 'retry-after': '3', 'idempotent-replayed': 'true' } })
    expect(sent.kind === 'answered' && Object.keys(sent.headers).sort()).toEqual(['idempotent-replayed', 'retry-after'])
  })
})

describe('what goes out', () => {
  async function capture(over: Partial<DestinationContract>, entry = makeEntry()) {
    const seen: {
      headers: NodeJS.Dict<string | string[]>
      rawHeaders: string[]
      body: Buffer
      url: string | undefined
      method: string | undefined
    }[] = []
    const server = createHttpServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      seen.push({
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks),
        url: request.url,
        method: request.method,
      })
      response.end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/tickets?a=b`
    await open(url, over).send(entry, Number.POSITIVE_INFINITY)
    server.close()
    server.closeAllConnections()
    const first = seen[0]
    if (first === undefined) throw new Error('nothing arrived')
    return first
  }

  test('I3: the frozen bytes, under one key, whatever the configured headers say (case B081: idempotency key that changes)', async () => {
    const entry = makeEntry({ body: Buffer.from([0, 255, 10, 13, 123]), contentType: 'application/octet-stream' })
    const headers = { Authorization: 'Bearer s', 'IDEMPOTENCY-KEY': 'other', 'Content-Type': 'text/plain' }
    const seen = await capture({ headers }, entry)
    expect(seen.body).toEqual(entry.body)
    expect(seen).toMatchObject({ url: '/v2/tickets?a=b', method: 'POST' })
    expect(seen.headers).toMatchObject({
      authorization: 'Bearer s',
      'idempotency-key': entry.idempotencyKey,
      'content-type': 'application/octet-stream',
    })
    expect(seen.headers['user-agent']).toMatch(/^counterfoil/)
    expect(seen.rawHeaders.filter((name) => /^(idempotency-key|content-type)$/i.test(name))).toHaveLength(2)
  })

  test('a quoted key is an RFC 8941 string', async () => {
    const entry = makeEntry({ idempotencyKey: 'say "hi" \\ bye' })
    const idempotency = { kind: 'header', header: 'Idempotency-Key', quoted: true, lifetimeMs: 1, marginMs: 0 } as const
    const seen = await capture({ idempotency }, entry)
    expect(seen.headers['idempotency-key']).toBe('"say \\"hi\\" \\\\ bye"')
  })

  test('without a key each request has a socket of its own, and no key header', async () => {
    const counting = await peer({ onRequest: (socket) => void socket.write(answer(200)) })
    const way = open(counting.url, { idempotency: { kind: 'none' } })
    for (let round = 0; round < 3; round += 1) await way.send(makeEntry(), Number.POSITIVE_INFINITY)
    expect(counting.connections()).toBe(3)
    expect((await capture({ idempotency: { kind: 'none' } })).headers).not.toHaveProperty('idempotency-key')
  })

  test('with a key sockets are reused', async () => {
    const counting = await peer({ onRequest: (socket) => void socket.write(answer(200)) })
    const way = open(counting.url)
    for (let round = 0; round < 5; round += 1) await way.send(makeEntry(), Number.POSITIVE_INFINITY)
    // undici frees a socket just after it reports the answer, so the second request may still find it busy.
    expect(counting.connections()).toBeLessThanOrEqual(2)
  })

  test('a socket that the other side closed while idle is not used again (case B076: reset of a reused socket)', async () => {
    const closing = await peer({ onRequest: (socket) => void socket.end(answer(200)) })
    const way = open(closing.url)
    for (let round = 0; round < 5; round += 1) {
      expect(await way.send(makeEntry(), Number.POSITIVE_INFINITY)).toMatchObject({ kind: 'answered', status: 200 })
    }
    expect(closing.connections()).toBe(5)
  })
})

describe('addresses that are not public are refused where allowPrivate is off', () => {
  const refused = [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    'fd00::1',
    'fe80::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '0.0.0.0',
    '100.64.0.1',
    '::',
  ]

  test.each(refused)('a name that resolves to %s', async (address) => {
    const server = await peer({ onRequest: (socket) => void socket.write(answer(200)) })
    const sent = await sendOnce(`http://crm.example:${server.port}/`, { allowPrivate: false }, resolvesTo(address))
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: false, code: 'ERR_COUNTERFOIL_EGRESS' })
    expect(classify(sent, makeContract(), 0)).toMatchObject({ kind: 'not_sent', cause: 'egress_refused' })
    expect(server.connections()).toBe(0)
  })

  test.each(['127.0.0.1', '0x7f.1', '2130706433', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]'])(
    'spelled as %s',
    async (host) => {
      const server = await peer({ onRequest: (socket) => void socket.write(answer(200)) })
      const sent = await sendOnce(`http://${host}:${server.port}/`, { allowPrivate: false })
      expect(sent).toMatchObject({ kind: 'failed', code: 'ERR_COUNTERFOIL_EGRESS' })
      expect(server.connections()).toBe(0)
    },
  )
})
