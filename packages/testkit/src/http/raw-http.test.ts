import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawHttp } from './raw-http.js'

describe('rawHttp', () => {
  let server: Server
  let port: number

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/reset') request.socket.resetAndDestroy()
      else if (request.url !== '/hang')
        response.setHeader('x-twice', ['a', 'b']).writeHead(202).end(`${request.method}`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it('sends bytes as they are, in pieces, and reads status, headers and body', async () => {
    const answer = await rawHttp(port, ['PUT / HTT', 'P/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'], { pauseMs: 5 })
    expect(answer).toMatchObject({ status: 202, end: 'closed' })
    expect(answer.headers.get('x-twice')).toBe('a, b')
    expect(answer.body).toContain('PUT')
  })

  it('tells a bad request, a reset and silence apart', async () => {
    expect(await rawHttp(port, 'nonsense\r\n\r\n')).toMatchObject({ status: 400, end: 'closed' })
    expect(await rawHttp(port, 'GET /reset HTTP/1.1\r\nHost: x\r\n\r\n')).toMatchObject({ status: 0, end: 'reset' })
    const silence = await rawHttp(port, 'GET /hang HTTP/1.1\r\nHost: x\r\n\r\n', { timeoutMs: 50 })
    expect(silence).toMatchObject({ status: 0, end: 'timeout' })
  })
})
