import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rawHttp } from '../http/raw-http.js'
import { until } from '../process/until.js'
import { type Sink, startSink } from './start-sink.js'

describe('startSink', () => {
  let sink: Sink

  beforeAll(async () => {
    sink = await startSink()
  }, 20_000)
  beforeEach(async () => {
    await sink.setDoor('open')
    await sink.script({})
    await sink.clear()
  })
  afterAll(() => sink.kill())

  const post = (key: string | null, body = '{"a":1}', path = '/notify') =>
    fetch(sink.url(path), {
      method: 'POST',
      body,
      headers: key === null ? {} : { 'idempotency-key': key },
      signal: AbortSignal.timeout(1_000),
    })

  it('applies a key once and answers its repeat as replayed', async () => {
    const first = await post('k1')
    const second = await post('k1')
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    const bodyDigest = createHash('sha256').update('{"a":1}').digest('hex')
    expect(await sink.effects()).toEqual([{ path: '/notify', key: 'k1', bodyDigest, request: 1 }])
    expect(await sink.requests()).toMatchObject([
      { number: 1, method: 'POST', did: 'answered', applied: true, bodyDigest },
      { number: 2, method: 'POST', did: 'replayed', applied: false, bodyDigest },
    ])
  })

  it('answers a known key with another body 422', async () => {
    await post('k1')
    expect((await post('k1', '{"a":2}')).status).toBe(422)
    expect(await sink.summary()).toMatchObject({ requests: 2, effects: 1, repeatedEffects: 0 })
  })

  it('shows the second effect where keys are not honoured', async () => {
    await sink.script({ honourKeys: false })
    await post('k1')
    await post('k1')
    await post(null)
    expect(await sink.summary()).toMatchObject({ effects: 3, distinctKeys: 1, repeatedEffects: 1, withoutKey: 1 })
  })

  it('applies and drops the connection on the first request, and knows the key on the second', async () => {
    await sink.script({ rules: [{ path: '/notify', to: 1, behaviour: { kind: 'drop', apply: true } }] })
    await expect(post('k1')).rejects.toThrow()
    expect((await post('k1')).headers.get('idempotent-replayed')).toBe('true')
    expect((await sink.requests()).map(({ did }) => did)).toEqual(['dropped', 'replayed'])
    expect(await sink.summary()).toMatchObject({ requests: 2, effects: 1 })
  })

  it('applies and says 500, then replays the success', async () => {
    await sink.script({ rules: [{ key: 'k1', to: 1, behaviour: { kind: 'answer', status: 500, apply: true } }] })
    expect((await post('k1')).status).toBe(500)
    expect((await post('k1')).status).toBe(200)
    expect(await sink.summary()).toMatchObject({ requests: 2, effects: 1 })
  })

  it('answers by path and by number, with headers, body and delay', async () => {
    const busy = { kind: 'answer', status: 503, headers: { 'Retry-After': '2' }, body: 'busy' } as const
    const slow = { kind: 'answer', status: 201, delayMs: 60 } as const
    await sink.script({
      rules: [
        { path: '/busy', from: 2, to: 2, behaviour: busy },
        { path: '/slow', behaviour: slow },
      ],
    })
    const answers = [await post('a', '1', '/busy'), await post('b', '1', '/busy'), await post('c', '1', '/busy')]
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 200])
    expect([answers[1]?.headers.get('retry-after'), await answers[1]?.text()]).toEqual(['2', 'busy'])
    const startedAt = performance.now()
    expect((await post('d', '1', '/slow')).status).toBe(201)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59)
  })

  it('hangs after applying', async () => {
    await sink.script({ otherwise: { kind: 'hang', apply: true } })
    await expect(post('k1')).rejects.toThrow('timeout')
    expect(await sink.summary()).toMatchObject({ requests: 1, effects: 1 })
  })

  it('resets before reading, truncates, and writes bytes as they are', async () => {
    const nonsense = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: nonsense\r\n\r\n').toString('base64')
    await sink.script({
      rules: [
        { path: '/reset', behaviour: { kind: 'reset_before_read' } },
        { path: '/half', behaviour: { kind: 'truncate', apply: true, status: 200 } },
        { path: '/raw', behaviour: { kind: 'raw', apply: false, base64: nonsense } },
      ],
    })
    await expect(post('a', '1', '/reset')).rejects.toThrow()
    await expect(post('b', '1', '/half').then((half) => half.text())).rejects.toThrow()
    await expect(post('c', '1', '/raw')).rejects.toThrow()
    expect((await sink.effects()).map(({ key }) => key)).toEqual(['b'])
  })

  it('keeps the headers it is asked to keep', async () => {
    await sink.script({ keepHeaders: ['content-type'] })
    await post('k1')
    expect((await sink.requests())[0]?.headers).toEqual({ 'content-type': 'text/plain;charset=UTF-8' })
  })

  it('refuses, resets and mutes connections, and opens again on the same port', async () => {
    const get = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    await sink.setDoor('refuse')
    await expect(rawHttp(sink.port, get)).rejects.toThrow('ECONNREFUSED')
    await sink.setDoor('reset')
    expect((await rawHttp(sink.port, get)).status).toBe(0)
    await sink.setDoor('mute')
    expect((await rawHttp(sink.port, get, { timeoutMs: 50 })).end).toBe('timeout')
    await sink.setDoor('open')
    expect((await rawHttp(sink.port, get)).status).toBe(200)
    expect(await sink.summary()).toMatchObject({ requests: 1 })
  })

  it('is silent while paused', async () => {
    sink.pause()
    const answer = post('k1')
    sink.resume()
    expect((await answer).status).toBe(200)
    await until(async () => (await sink.summary()).requests === 1)
  })
})
