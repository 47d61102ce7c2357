import { generateKeyPairSync } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import { classify, type DestinationContract, type DestinationTls } from '@counterfoil/core'
import { makeCertificate } from '@counterfoil/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { makeContract, makeEntry } from '../testing/make-entry.js'
import { answer, type PeerScript, startPeer } from '../testing/start-peer.js'
import { openDownstream } from './send-downstream.js'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function peer(script: PeerScript) {
  const started = await startPeer(script)
  closers.push(started.close)
  return started
}

function open(url: string, over: Partial<DestinationContract>, lookup: LookupFunction) {
  const way = openDownstream(makeContract({ url, ...over }), lookup)
  closers.push(way.close)
  return () => way.send(makeEntry(), Number.POSITIVE_INFINITY)
}

/** Answers each lookup with the next address, the last one for ever. */
function rebinding(...addresses: string[]) {
  const state = { lookups: 0 }
  const lookup: LookupFunction = (_hostname, options, callback) => {
    const address = addresses[Math.min(state.lookups, addresses.length - 1)] ?? ''
    state.lookups += 1
    if (options.all) callback(null, [{ address, family: 4 }])
    else callback(null, address, 4)
  }
  return { lookup, state }
}

const OK: PeerScript = { onRequest: (socket) => void socket.end(answer(200)) }

describe('a name that resolves differently a moment later', () => {
  test('gains nothing: one lookup a connection, and what it gave is what is connected to', async () => {
    const server = await peer(OK)
    const { lookup, state } = rebinding('127.0.0.1', '127.0.0.2')
    const send = open(`http://crm.example:${server.port}/`, { allowPrivate: true }, lookup)
    expect(await send()).toMatchObject({ kind: 'answered', status: 200 })
    expect(state.lookups).toBe(1)
    expect(server.connections()).toBe(1)
  })

  test('is judged again at every connection, so a turn to a private address is refused', async () => {
    const server = await peer(OK)
    const { lookup, state } = rebinding('10.0.0.1', '169.254.169.254', '127.0.0.1')
    const send = open(`http://crm.example:${server.port}/`, { allowPrivate: false }, lookup)
    for (let round = 1; round <= 3; round += 1) {
      expect(await send()).toMatchObject({ headersHandedOver: false, code: 'ERR_COUNTERFOIL_EGRESS' })
      expect(state.lookups).toBe(round)
    }
    expect(server.connections()).toBe(0)
  })
})

describe('mutual TLS', () => {
  const makePair = () => {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    return { pair, key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  }
  const server = makePair()
  const serverCertificate = makeCertificate(server.pair, 'localhost')
  const toLoopback = rebinding('127.0.0.1').lookup

  test.each([
    ['is no key', () => 'half a file'],
    ['belongs to another certificate', () => makePair().key],
  ])('with a key that %s sends nothing, and says so', async (_name, makeKey) => {
    const tls: DestinationTls = {
      cert: () => Buffer.from(serverCertificate),
      key: () => Buffer.from(makeKey()),
      ca: null,
    }
    const listener = await peer({ ...OK, tls: { cert: serverCertificate, key: server.key } })
    const sent = await open(`https://localhost:${listener.port}/`, { tls }, toLoopback)()
    expect(sent).toMatchObject({ kind: 'failed', headersHandedOver: false })
    expect(classify(sent, makeContract(), 0)).toMatchObject({ kind: 'not_sent', cause: 'tls' })
    expect(listener.bytes()).toBe(0)
  })

  test('shows the certificate that is in its file now, so that it can be rotated', async () => {
    const [old, next] = [makePair(), makePair()]
    const [oldCertificate, nextCertificate] = [makeCertificate(old.pair, 'us'), makeCertificate(next.pair, 'us')]
    const options = { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' } as const
    const tls = { cert: serverCertificate, key: server.key, ca: nextCertificate, ...options }
    const strict = await peer({ ...OK, tls })

    const current = { cert: Buffer.from(oldCertificate), key: Buffer.from(old.key), ca: Buffer.from(serverCertificate) }
    const readers: DestinationTls = { cert: () => current.cert, key: () => current.key, ca: () => current.ca }
    const send = open(`https://localhost:${strict.port}/`, { tls: readers }, toLoopback)
    expect(await send()).toMatchObject({ kind: 'failed', headersHandedOver: false })
    current.cert = Buffer.from(nextCertificate)
    current.key = Buffer.from(next.key)
    expect(await send()).toMatchObject({ kind: 'answered', status: 200 })
  })
})
