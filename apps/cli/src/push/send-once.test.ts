import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendOnce } from './send-once.js'

let server: Server
let base: string
const received: { url: string | undefined; headers: NodeJS.Dict<string | string[]>; body: string }[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() })
      if (request.url === '/hang') return
      if (request.url === '/later') response.writeHead(503, { 'retry-after': '7' })
      else if (request.url === '/moved') response.writeHead(302, { location: '/ok' })
      else response.writeHead(204)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function send(path: string, change: { dropResponse?: boolean; timeoutMs?: number; base?: string } = {}) {
  return sendOnce({
    url: new URL(path, change.base ?? base),
    headers: { 'x-signature': 'abc' },
    body: Buffer.from('{"n":1}'),
    timeoutMs: change.timeoutMs ?? 5_000,
    dropResponse: change.dropResponse ?? false,
    signal: new AbortController().signal,
  })
}

describe('sendOnce', () => {
  it('pushes the bytes with their headers and reads the answer', async () => {
    expect(await send('/ok')).toMatchObject({ kind: 'answered', status: 204 })
    expect(received.at(-1)).toMatchObject({ body: '{"n":1}', headers: { 'x-signature': 'abc', 'content-length': '7' } })
  })

  it('reads Retry-After, and follows no redirect', async () => {
    expect(await send('/later')).toMatchObject({ status: 503, retryAfterMs: 7_000 })
    const before = received.length
    expect(await send('/moved')).toMatchObject({ status: 302 })
    expect(received.length).toBe(before + 1)
  })

  it('loses an answer on purpose after the whole request arrived', async () => {
    expect(await send('/ok', { dropResponse: true })).toEqual({ kind: 'dropped' })
    expect(received.at(-1)?.body).toBe('{"n":1}')
  })

  it('is out of patience after its time, and tells a refused connection apart', async () => {
    expect(await send('/hang', { timeoutMs: 100 })).toMatchObject({ kind: 'failed', cause: 'ETIMEDOUT' })
    expect(await send('/ok', { base: 'http://127.0.0.1:1' })).toMatchObject({ kind: 'failed', cause: 'ECONNREFUSED' })
  })
})
