import { connect, type Socket } from 'node:net'
import type { ClaimResult } from '@counterfoil/core'
import { rawHttp, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type HarnessOptions,
  makeSource,
  type PushHarness,
  signedHeaders,
  signedRequest,
  startPushHarness,
} from './testing/push-harness.js'

const BODY = `{"filling":"${'x'.repeat(2000)}"}`
let harness: PushHarness
const start = async (options?: HarnessOptions) => {
  harness = await startPushHarness(options)
}
afterEach(() => harness.close())

const headOf = (body: string, extra = '', id = 'd-1') =>
  `POST /hooks/tickets HTTP/1.1\r\n${signedHeaders(body, { id })}${extra}\r\n`
const withLength = (body: string, extra = '') => headOf(body, `Content-Length: ${body.length}\r\n${extra}`)

async function open(): Promise<{ socket: Socket; received: () => string; closed: Promise<void> }> {
  const socket = connect(harness.port, '127.0.0.1')
  socket.on('error', () => {})
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  await new Promise((resolve) => socket.once('connect', resolve))
  return { socket, received: () => text, closed }
}

const lineWith = (cause: string) => until(() => harness.lines().find((line) => line.cause === cause))

describe('a client that goes away', () => {
  it.each([
    ['resets in the middle of the body', (socket: Socket) => socket.resetAndDestroy()],
    ['hangs up in the middle of the body', (socket: Socket) => socket.end()],
  ])(
    '%s: no claim, no failure of ours, no seat kept (case B046: client that leaves in the middle)',
    async (_what, leave) => {
      await start()
      const { socket } = await open()
      socket.write(withLength(BODY) + BODY.slice(0, 500))
      await until(() => harness.budget.depth().bytes === 500)
      leave(socket)
      expect(await lineWith('client_gone')).toMatchObject({ outcome: 'refused', status: null, ack: 'not_written' })
      expect(harness.lines()).toHaveLength(1)
      expect(harness.store.claims).toEqual([])
      expect(harness.budget.depth()).toEqual({ pushes: 0, bytes: 0 })
    },
  )

  it('ends chunks without a terminator: no claim (case B046: client that leaves in the middle)', async () => {
    await start()
    const { socket } = await open()
    socket.write(`${headOf(BODY, 'Transfer-Encoding: chunked\r\n')}5\r\nhello\r\n`)
    await until(() => harness.budget.depth().bytes === 5)
    socket.end()
    await lineWith('client_gone')
    expect(harness.store.claims).toEqual([])
  })

  it('leaves after the last byte: it is claimed, and its ack is on record as not written (case B046: client that leaves in the middle)', async () => {
    await start()
    let finish: (result: ClaimResult) => void = () => {}
    harness.store.script(() => new Promise((resolve) => (finish = resolve)))
    const { socket, closed } = await open()
    socket.write(withLength(BODY) + BODY)
    await until(() => harness.store.claims.length === 1)
    socket.resetAndDestroy()
    await closed
    await until(async () => (await connections()) === 0)
    finish({ kind: 'committed', results: [{ kind: 'first', deliveryUuid: 'uuid', observation: 1, outcome: null }] })
    await until(() => harness.store.acks.length === 1)
    expect(harness.store.acks[0]).toMatchObject({ deliveryUuid: 'uuid', status: 204, result: 'not_written' })
    expect(harness.lines().at(-1)).toMatchObject({ outcome: 'accepted', ack: 'not_written' })
  })
})

const connections = () =>
  new Promise<number>((resolve) => harness.pushServer.server.getConnections((_error, count) => resolve(count)))

describe('a body that does not come as it must', () => {
  it('is cut with 408 when it drips, while others are served (case B047: body that drips)', async () => {
    await start({ bodyTimeoutMs: 300 })
    const { socket, received, closed } = await open()
    socket.write(withLength(BODY))
    const drip = setInterval(() => socket.write('x'), 20)
    const neighbour = await rawHttp(harness.port, signedRequest('{}', { id: 'neighbour' }))
    expect(neighbour.status).toBe(204)
    await closed
    clearInterval(drip)
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
    expect(await lineWith('too_slow')).toMatchObject({ status: 408 })
    expect(harness.budget.depth().pushes).toBe(0)
  })

  it('delays nobody: 60 dripping connections, and 40 pushes beside them are answered (case B047: body that drips)', async () => {
    await start({ bodyTimeoutMs: 2000 })
    const slow = await Promise.all(Array.from({ length: 60 }, () => open()))
    for (const { socket } of slow) socket.write(`${withLength(BODY)}x`)
    await until(() => harness.budget.depth().pushes === 60)
    const startedAt = performance.now()
    const ids = Array.from({ length: 40 }, (_item, index) => `quick-${index}`)
    const answers = await Promise.all(ids.map((id) => rawHttp(harness.port, signedRequest(BODY, { id }))))
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(204))
    expect(performance.now() - startedAt).toBeLessThan(1500)
    await Promise.all(slow.map(({ closed }) => closed))
    expect(harness.budget.depth()).toEqual({ pushes: 0, bytes: 0 })
  })

  it('is cut with 408 when not even its headers arrive (case B047: body that drips)', async () => {
    await start({ requestTimeoutMs: 300 })
    const { socket, received, closed } = await open()
    socket.write('POST /hooks/tickets HTTP/1.1\r\nHost: x\r\nX-Slow')
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 408 /)
    expect(received()).toContain('application/problem+json')
  })

  it.each([
    ['with Content-Length, before a byte is read', true],
    ['in chunks without it, while reading', false],
  ])(
    'is answered 413 that the client can read, with bounded memory: 8 MiB %s (case B050: body over the limit, lying lengths)',
    async (_what, announced) => {
      await start()
      const part = 'y'.repeat(64 * 1024)
      const total = 128 * part.length
      const { socket, received } = await open()
      socket.write(headOf(BODY, announced ? `Content-Length: ${total}\r\n` : 'Transfer-Encoding: chunked\r\n'))
      let most = 0
      for (let sent = 0; sent < total; sent += part.length) {
        const more = socket.write(announced ? part : `${part.length.toString(16)}\r\n${part}\r\n`)
        if (!more) await new Promise((resolve) => socket.once('drain', resolve))
        most = Math.max(most, harness.budget.depth().bytes)
      }
      if (!announced) socket.write('0\r\n\r\n')
      await until(() => received().startsWith('HTTP/1.1 413 '))
      expect(most).toBeLessThanOrEqual(256 * 1024)
      // The rest was thrown away, so the connection is good for the next push.
      socket.write(withLength(BODY) + BODY)
      await until(() => received().includes('HTTP/1.1 204 '))
      expect(harness.store.claims).toHaveLength(1)
      socket.destroy()
    },
  )
})

describe('a client that closes its connection after one push', () => {
  it.each(['/hooks/tickets', '/hooks/none'])('reads its refusal although it sends 8 MiB first: %s', async (path) => {
    await start()
    const body = Buffer.alloc(8 * 1024 * 1024, 'z')
    const answer = await rawHttp(harness.port, signedRequest(body, { path }))
    expect(answer.status).toBe(path === '/hooks/none' ? 404 : 413)
    expect(answer.end).toBe('closed')
  })
})

describe('a client that waits for 100 Continue', () => {
  const request = (length: number) =>
    withLength(BODY, 'Expect: 100-continue\r\n').replace(`${BODY.length}`, `${length}`)

  it('gets it at once, and then its answer (case B051: sender that waits for 100 Continue)', async () => {
    await start()
    const { socket, received } = await open()
    socket.write(request(BODY.length))
    await until(() => received().startsWith('HTTP/1.1 100 Continue\r\n\r\n'))
    socket.write(BODY)
    await until(() => received().includes('HTTP/1.1 204 '))
    socket.destroy()
  })

  it('gets 413 without 100, and the connection ends (case B051: sender that waits for 100 Continue)', async () => {
    await start()
    const { socket, received, closed } = await open()
    socket.write(request(50_000_000))
    await closed
    expect(received()).toMatch(/^HTTP\/1\.1 413 /)
    expect(received()).toMatch(/connection: close/i)
  })
})

describe('a kept-alive connection', () => {
  it('carries one push after the other, also idle for longer than the header timeout', async () => {
    await start({ requestTimeoutMs: 200 })
    const { socket, received } = await open()
    for (let pushes = 1; pushes <= 2; pushes += 1) {
      socket.write(withLength(BODY) + BODY)
      await until(() => received().split('HTTP/1.1 204 ').length === pushes + 1)
      await new Promise((resolve) => setTimeout(resolve, 600))
    }
    socket.destroy()
  })

  it('outlives the idle time of a load balancer, with a header timeout above it (case B048: keep-alive shorter than that of the load balancer)', async () => {
    await start()
    const { server } = harness.pushServer
    expect(server.keepAliveTimeout).toBeGreaterThan(60_000)
    expect(server.headersTimeout).toBeGreaterThan(server.keepAliveTimeout)
    expect(server.requestTimeout).toBe(30_000)
  })

  it('is ended once nothing new is accepted, and its push still gets its answer', async () => {
    let closing = false
    await start({ closing: () => closing, sources: [makeSource()] })
    const { socket, received, closed } = await open()
    socket.write(withLength(BODY) + BODY)
    await until(() => received().includes('HTTP/1.1 204 '))
    closing = true
    harness.pushServer.stopAccepting()
    socket.write(withLength(BODY) + BODY)
    await closed
    expect(received().split('HTTP/1.1 204 ')).toHaveLength(3)
    expect(received()).toMatch(/connection: close/i)
  })
})
