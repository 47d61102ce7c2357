import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { classify, type DestinationContract, type LeasedEntry, type Sent } from '@counterfoil/core'
import { makeCertificate } from '@counterfoil/testkit'
import { afterEach, expect, test } from 'vitest'
import { makeContract, makeEntry } from '../testing/make-entry.js'
import { answer, type Peer, type PeerScript, startPeer } from '../testing/start-peer.js'
import { startStuckListener } from '../testing/stuck-listener.js'
import { type Downstream, openDownstream } from './send-downstream.js'

/** What was measured of an HTTP client, and the class that each row has to get; judged from codes in packages/core. */
type Row = {
  readonly name: string
  readonly status: number | null
  readonly code: string | null
  readonly kind: string
}
const rows: readonly Row[] = JSON.parse(
  readFileSync(
    new URL('../../../../packages/core/src/attempt/vectors/measured-failures.json', import.meta.url),
    'utf8',
  ),
)

const HOUR_MS = 3_600_000
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function peer(script: PeerScript): Promise<Peer> {
  const started = await startPeer(script)
  closers.push(started.close)
  return started
}

function open(url: string, over: Partial<DestinationContract> = {}, lookup?: LookupFunction): Downstream {
  const way = openDownstream(makeContract({ url, ...over }), lookup)
  closers.push(way.close)
  return way
}

const send = (way: Downstream, entry: LeasedEntry = makeEntry()) => way.send(entry, Number.POSITIVE_INFINITY)
const sendTo = async (script: PeerScript, over: Partial<DestinationContract> = {}, entry?: LeasedEntry) =>
  send(open((await peer(script)).url, over), entry)

const resolvesTo =
  (...addresses: string[]): LookupFunction =>
  (_hostname, options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family)
  }
const failsWith =
  (code: string): LookupFunction =>
  (hostname, _options, callback) =>
    callback(Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { code }), '', 0)

async function deadPort(): Promise<number> {
  const gone = await startPeer({})
  await gone.close()
  return gone.port
}

async function toStuckListener(giveUpAfterMs?: number): Promise<Sent> {
  const stuck = await startStuckListener()
  closers.push(stuck.close)
  const totalMs = giveUpAfterMs ?? 1_200
  const timeouts = { connectMs: 500, headersMs: 500, bodyMs: 500, totalMs }
  return send(open(`http://127.0.0.1:${stuck.port}/`, { timeouts }))
}

const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const certify = (name: string, at = Date.now()) => makeCertificate(pair, name, at)
const OK: PeerScript = { onRequest: (socket) => void socket.write(answer(200)) }

/** A TLS peer of which the sender trusts the certificate, reached by the name `localhost`. */
async function toTls(cert: string, tls: TlsOptions, isTrusted: boolean): Promise<Sent> {
  const { port } = await peer({ ...OK, tls: { cert, key, ...tls } })
  const trust = isTrusted ? { tls: { cert: null, key: null, ca: () => Buffer.from(cert) } } : {}
  return send(open(`https://localhost:${port}/`, trust, resolvesTo('127.0.0.1')))
}
const wantsClientCertificate = { requestCert: true, rejectUnauthorized: true }

const silentOnTls = async (script: PeerScript) => send(open((await peer(script)).url.replace('http:', 'https:')))
const writes = (text: string): PeerScript => ({ onRequest: (socket) => void socket.write(text) })
const big = () => makeEntry({ body: Buffer.alloc(8 * 1024 * 1024, 'x') })
const half = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'

/** Closes the way once the request has arrived. */
async function destroyInFlight(): Promise<Sent> {
  const way = open((await peer({ onRequest: () => void way.close() })).url)
  return send(way)
}

/** Two sends over one socket, of which the first is in flight when all is destroyed. */
async function destroyWithQueue(which: 'head' | 'queued'): Promise<Sent> {
  const way = open((await peer({ onRequest: () => void way.close() })).url, { concurrency: 1 })
  const [head, queued] = await Promise.all([send(way), send(way)])
  return which === 'head' ? head : queued
}

async function secondOf(script: PeerScript): Promise<Sent> {
  const way = open((await peer(script)).url, { concurrency: 1 })
  expect(await send(way)).toMatchObject({ kind: 'answered', status: 200 })
  return send(way)
}

async function afterClose(): Promise<Sent> {
  const way = open((await peer(OK)).url)
  await way.close()
  return send(way)
}

const SHORT = { timeouts: { connectMs: 500, headersMs: 2_000, bodyMs: 2_000, totalMs: 300 } }
const refused = async () => send(open(`http://127.0.0.1:${await deadPort()}/`))

/** Each row again, through our own sender, over real sockets and TLS. */
const REPRODUCE: Readonly<Record<string, () => Promise<Sent>>> = {
  'connection refused': refused,
  'connection refused via localhost (happy eyeballs)': async () =>
    send(open(`http://localhost:${await deadPort()}/`, {}, resolvesTo('127.0.0.1', '::1'))),
  'connection refused, fetch()': refused,
  'SYN dropped (connect timeout 800ms)': () => toStuckListener(),
  'SYN dropped, AbortSignal.timeout(300)': () => toStuckListener(300),
  'dns ENOTFOUND': () => send(open('http://svc.invalid/', {}, failsWith('ENOTFOUND'))),
  'dns EAI_AGAIN': () => send(open('http://svc.invalid/', {}, failsWith('EAI_AGAIN'))),
  'tls self-signed': () => toTls(certify('localhost'), {}, false),
  'tls hostname mismatch (trusted CA)': () => toTls(certify('other.example'), {}, true),
  'tls expired cert (trusted CA)': () => toTls(certify('localhost', Date.now() - 20_000 * HOUR_MS), {}, true),
  'https to a plain-http port (server silent)': () => silentOnTls({}),
  'https to a plain-http port (server answers http)': () =>
    silentOnTls({ onConnection: (socket) => void socket.write(answer(400)) }),
  'server closes inside TLS handshake': () =>
    silentOnTls({ onConnection: (socket) => void socket.once('data', () => socket.destroy()) }),
  'mTLS: client cert missing (TLS1.3, alert after handshake)': () =>
    toTls(certify('localhost'), { ...wantsClientCertificate, minVersion: 'TLSv1.3' }, true),
  'mTLS: client cert missing (TLS1.2)': () =>
    toTls(certify('localhost'), { ...wantsClientCertificate, maxVersion: 'TLSv1.2' }, true),
  'server reads request, FIN without response': () => sendTo({ onRequest: (socket) => void socket.end() }),
  'server reads request, RST without response': () => sendTo({ onRequest: (socket) => void socket.resetAndDestroy() }),
  'server FINs on accept (never reads)': () => sendTo({ onConnection: (socket) => void socket.end() }),
  'server RSTs on accept (never reads)': () => sendTo({ onConnection: (socket) => void socket.resetAndDestroy() }),
  'server RSTs with 8 MiB body half written (EPIPE/ECONNRESET)': () =>
    sendTo({ onConnection: (socket) => void socket.once('data', () => socket.resetAndDestroy()) }, {}, big()),
  'headers timeout': () => sendTo({}),
  'AbortSignal.timeout(300) after send': () => sendTo({}, SHORT),
  'AbortController.abort() after send, fetch()': async () => {
    const way = open((await peer({ onRequest: () => way.giveUp() })).url)
    return send(way)
  },
  'already aborted signal': async () => open((await peer(OK)).url).send(makeEntry(), performance.now() - 1),
  'body timeout (200 headers seen)': () => sendTo(writes(half)),
  'truncated body (200 headers seen)': () => sendTo({ onRequest: (socket) => void socket.end(half) }),
  'truncated chunked body (200 headers seen)': () =>
    sendTo({ onRequest: (socket) => void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhal') }),
  'malformed response': () => sendTo(writes('SSH-2.0-nobody\r\n\r\n')),
  'response headers overflow': () => sendTo(writes(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`)),
  'maxResponseSize exceeded (200 headers seen)': () => sendTo(writes(answer(200, 'x'.repeat(200_000)))),
  'unsolicited 100 Continue': () => sendTo(writes('HTTP/1.1 100 Continue\r\n\r\n')),
  'invalid header value': () => sendTo(OK, { headers: { x: 'a\nb' } }),
  'Expect header': () => sendTo(OK, { headers: { expect: '100-continue' } }),
  'content-length mismatch (buffer)': () => sendTo(OK, { headers: { 'content-length': '3' } }),
  'keep-alive #1 ok': () => sendTo(OK),
  'keep-alive #2: server kills reused socket on arrival': () => {
    let requests = 0
    return secondOf({
      onRequest: (socket) => {
        requests += 1
        if (requests === 1) socket.write(answer(200))
        else socket.destroy()
      },
    })
  },
  'keep-alive idle closed by server, #1 ok': () => sendTo({ onRequest: (socket) => void socket.end(answer(200)) }),
  'then #2 opens a fresh socket (server only answers first per conn)': () =>
    secondOf({ onRequest: (socket) => void socket.end(answer(200)) }),
  'client.destroy() in flight': destroyInFlight,
  'request after destroy': afterClose,
  'request after close()': afterClose,
  'queued behind: not yet written when destroyed': () => destroyWithQueue('queued'),
  'queued behind: head in flight when destroyed': () => destroyWithQueue('head'),
  'client.destroy(new Error(shutdown)) in flight': destroyInFlight,
  'early 413 with 8 MiB body': () =>
    sendTo({ onConnection: (socket) => void socket.once('data', () => socket.write(answer(413))) }, {}, big()),
}

/** A reset at accept shows before or after the connection: the marker says which, and the class follows it. */
const RACES = new Set(['server RSTs on accept (never reads)', 'server FINs on accept (never reads)'])

test.each(rows)('measured and reproduced: $name → $kind', async ({ name, status, kind }) => {
  const reproduce = REPRODUCE[name]
  expect(reproduce, 'every measured row is reproduced').toBeDefined()
  const sent = await (reproduce as () => Promise<Sent>)()
  const outcome = classify(sent, makeContract(), Date.now())
  if (RACES.has(name) && sent.kind === 'failed') {
    expect(outcome.kind).toBe(sent.headersHandedOver ? 'uncertain' : 'not_sent')
    return
  }
  expect(outcome.kind).toBe(kind)
  expect(sent.kind === 'answered' ? sent.status : null).toBe(status)
})
