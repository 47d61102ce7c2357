import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rawHttp, until } from '@counterfoil/testkit'
import express from 'express'
import fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PushHarness, signedRequest, startPushHarness } from './testing/push-harness.js'
import { toExpress } from './to-express.js'
import { toFastify } from './to-fastify.js'

// White space that a parser and a serialiser would lose: only the bytes themselves verify.
const BODY = '{ "a" : 1.0 }\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const closers: (() => unknown)[] = []
let harness: PushHarness

beforeEach(async () => {
  harness = await startPushHarness()
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await harness.close()
})

async function serve(listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener)
  closers.push(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
const push = (port: number, extra = JSON_TYPE) => rawHttp(port, signedRequest(BODY, {}, extra))
const tampered = (port: number) =>
  rawHttp(port, signedRequest(BODY, {}, JSON_TYPE).toString('latin1').replace('1.0', '1.1'))

describe('toExpress', () => {
  it('takes a signed push, at the root or where it is mounted, and refuses a changed one', async () => {
    const app = express()
    app.use('/hooks', toExpress(harness.handler))
    app.use(express.json())
    app.post('/echo', (request, response) => void response.json(request.body))
    const port = await serve(app)
    expect((await push(port)).status).toBe(204)
    expect((await push(port, '')).status).toBe(204)
    expect((await tampered(port)).status).toBe(401)
    expect(harness.store.claims[0]?.deliveries[0]?.body.toString()).toBe(BODY)
    expect(await rawHttp(port, signedRequest(BODY, { path: '/echo' }, JSON_TYPE))).toMatchObject({ body: '{"a":1}' })
  })

  it('answers 503 and says why when a parser came first, and never verifies over an object', async () => {
    const app = express()
    app.use(express.json())
    app.use(toExpress(harness.handler))
    const port = await serve(app)
    expect((await push(port)).status).toBe(503)
    expect(harness.store.claims).toEqual([])
    const line = await until(() => harness.lines().find(({ cause }) => cause === 'body_consumed'))
    expect(line).toMatchObject({ level: 50, outcome: 'retryable_failure' })
    expect(line.hint).toContain('express.json()')
  })
})

describe('toFastify', () => {
  it('takes a signed push, refuses a changed one, and leaves the parsers of the application alone', async () => {
    const app = fastify({ forceCloseConnections: true })
    closers.push(() => app.close())
    await app.register(toFastify(harness.handler, ['/hooks/tickets']))
    app.post('/echo', async (request) => request.body)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    expect((await push(port)).status).toBe(204)
    expect((await push(port, '')).status).toBe(204)
    expect((await push(port, 'Content-Type: application/x-www-form-urlencoded\r\n')).status).toBe(204)
    expect((await tampered(port)).status).toBe(401)
    expect((await rawHttp(port, 'GET /hooks/tickets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).status).toBe(
      405,
    )
    expect(harness.store.claims[0]?.deliveries[0]?.body.toString()).toBe(BODY)
    expect(await rawHttp(port, signedRequest(BODY, { path: '/echo' }, JSON_TYPE))).toMatchObject({ body: '{"a":1}' })
  })

  it('answers 503 and says why when the body was parsed before the handler (case B001: body re-serialised before it is verified)', async () => {
    const app = fastify({ forceCloseConnections: true })
    closers.push(() => app.close())
    app.post('/hooks/tickets', (request, reply) => {
      reply.hijack()
      void harness.handler(request.raw, reply.raw)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    expect((await push((app.server.address() as AddressInfo).port)).status).toBe(503)
    expect(harness.store.claims).toEqual([])
  })
})
