import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { classify, type DestinationContract, type OAuth2Auth } from '@counterfoil/core'
import { afterEach, describe, expect, test } from 'vitest'
import { makeContract, makeEntry } from '../testing/make-entry.js'
import { type Downstream, openDownstream } from './send-downstream.js'

type Seen = { readonly headers: IncomingMessage['headers']; readonly body: string }
type Answer = (seen: Seen, count: number) => { status: number; body?: string; headers?: Record<string, string> }

const servers: Server[] = []
const ways: Downstream[] = []
afterEach(async () => {
  await Promise.all(ways.splice(0).map((way) => way.close()))
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

async function serve(reply: Answer): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    seen.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    const { status, body = '', headers = {} } = reply(seen.at(-1) as Seen, seen.length)
    response.writeHead(status, headers).end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen }
}

function open(url: string, tokenUrl: string, auth: Partial<OAuth2Auth> = {}, over: Partial<DestinationContract> = {}) {
  const way = openDownstream(
    makeContract({
      url,
      auth: {
        kind: 'oauth2',
        tokenUrl,
        clientId: 'cl:ient',
        clientSecret: () => Buffer.from('s3cret/+'),
        scope: 'write',
        audience: null,
        sendAs: 'basic',
        ...auth,
      },
      ...over,
    }),
  )
  ways.push(way)
  return (entry = makeEntry()) => way.send(entry, Number.POSITIVE_INFINITY)
}

const tokens: Answer = (_seen, count) => ({
  status: 200,
  body: JSON.stringify({ access_token: `t${count}`, token_type: 'bearer', expires_in: 3_600 }),
})
const accepts: Answer = () => ({ status: 200 })

describe('a destination behind OAuth2', () => {
  test('gets a token that is fetched once for many', async () => {
    const [endpoint, api] = [await serve(tokens), await serve(accepts)]
    const send = open(api.url, endpoint.url)
    await Promise.all([send(), send(), send(), send()])
    expect(endpoint.seen).toHaveLength(1)
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill('Bearer t1'))
    const basic = Buffer.from(endpoint.seen[0]?.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
    expect(basic.toString()).toBe('cl%3Aient:s3cret%2F%2B')
    expect(endpoint.seen[0]?.body).toBe('grant_type=client_credentials&scope=write')
  })

  test('may want the credentials as fields of the form', async () => {
    const [endpoint, api] = [await serve(tokens), await serve(accepts)]
    await open(api.url, endpoint.url, { sendAs: 'form', audience: 'api' })()
    expect(Object.fromEntries(new URLSearchParams(endpoint.seen[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'write',
      audience: 'api',
      client_id: 'cl:ient',
      client_secret: 's3cret/+',
    })
    expect(endpoint.seen[0]?.headers).not.toHaveProperty('authorization')
  })

  test('I3: that refuses a token gets the same key and bytes once more under a new one', async () => {
    const endpoint = await serve(tokens)
    const api = await serve(({ headers }) => ({ status: headers.authorization === 'Bearer t1' ? 401 : 200 }))
    const send = open(api.url, endpoint.url)
    expect(await send()).toMatchObject({ kind: 'answered', status: 401 })
    expect(await send()).toMatchObject({ kind: 'answered', status: 200 })
    expect(endpoint.seen).toHaveLength(2)

    let isRevoked = false
    const revoking = await serve(() => ({ status: isRevoked && revoking.seen.length === 2 ? 401 : 200 }))
    const again = open(revoking.url, endpoint.url)
    await again()
    isRevoked = true
    expect(await again(makeEntry({ idempotencyKey: 'order:7' }))).toMatchObject({ kind: 'answered', status: 200 })
    const [, refused, accepted] = revoking.seen
    expect(accepted?.headers['idempotency-key']).toBe('order:7')
    expect(accepted?.body).toBe(refused?.body)
    expect(accepted?.headers.authorization).not.toBe(refused?.headers.authorization)
  })

  test('that refuses every token is told so, after one refresh', async () => {
    const [endpoint, api] = [await serve(tokens), await serve((_seen, count) => ({ status: count === 1 ? 200 : 401 }))]
    const send = open(api.url, endpoint.url)
    await send()
    const sent = await send()
    expect(classify(sent, makeContract(), 0)).toMatchObject({ kind: 'unauthorised' })
    expect(api.seen).toHaveLength(3)
    expect(endpoint.seen).toHaveLength(2)
  })

  test.each<[string, Answer]>([
    ['refuses', () => ({ status: 401, body: '{"error":"invalid_client"}' })],
    ['is broken', () => ({ status: 500 })],
    ['redirects', () => ({ status: 307, headers: { location: 'http://127.0.0.1:1/' } })],
    ['answers without end', () => ({ status: 200, body: 'x'.repeat(200_000) })],
  ])('gets nothing when the token endpoint %s: not sent, and no secret is told (I10)', async (_name, reply) => {
    const [endpoint, api] = [await serve(reply), await serve(accepts)]
    const sent = await open(api.url, endpoint.url)()
    expect(sent).toMatchObject({ kind: 'failed', code: 'ERR_COUNTERFOIL_TOKEN', headersHandedOver: false })
    expect(classify(sent, makeContract(), 0)).toMatchObject({ kind: 'not_sent', cause: 'no_credentials' })
    expect(JSON.stringify(sent)).not.toMatch(/s3cret|invalid_client/)
    expect(api.seen).toEqual([])
  })

  test('gets nothing when the token endpoint is no public address, or away', async () => {
    const [endpoint, api] = [await serve(tokens), await serve(accepts)]
    expect(await open(api.url, endpoint.url, {}, { allowPrivate: false })()).toMatchObject({
      code: 'ERR_COUNTERFOIL_TOKEN',
      message: 'the token endpoint could not be asked (ERR_COUNTERFOIL_EGRESS)',
    })
    expect(endpoint.seen).toEqual([])
    expect(await open(api.url, 'http://127.0.0.1:1/')()).toMatchObject({ code: 'ERR_COUNTERFOIL_TOKEN' })
    expect(api.seen).toEqual([])
  })

  test('a stop while a token is awaited ends the attempt at once', async () => {
    const api = await serve(accepts)
    const silent = createServer(() => way.giveUp())
    servers.push(silent)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const send = open(
      api.url,
      `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`,
      {},
      {
        timeouts: { connectMs: 9_000, headersMs: 9_000, bodyMs: 500, totalMs: 9_000 },
      },
    )
    const way = ways.at(-1) as Downstream
    expect(await send()).toMatchObject({ headersHandedOver: false, code: 'ERR_COUNTERFOIL_STOPPING' })
  })
})
