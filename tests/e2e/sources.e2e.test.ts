import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, defineConfig, resolveConfig, route, secret } from '@counterfoil/config'
import type { Scheme, SignedPush, SigningKey, SourceContract } from '@counterfoil/core'
import { type RunningReceiver, startReceiver } from '@counterfoil/receiver'
import { freshDatabase, type RawAnswer, rawHttp, startTcpProxy, type TcpProxy, until } from '@counterfoil/testkit'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Draft, PUBLISHED, SOURCE_CASES, type SourceCase } from '../system/source-cases.js'

const HOUR_MS = 3_600_000
const pathOf = ({ name }: SourceCase) => `/push/${name}`

/** The text that a person would put into the environment for this key. */
function writeSecret(encoding: Scheme['keyEncoding'], { secret }: SigningKey): string {
  return encoding === 'whsec' || encoding === 'whpk' ? `${encoding}_${secret.toString('base64')}` : secret.toString()
}

/** Every sender as a source, by the same way that a configuration file goes. */
function resolveSources(): ReadonlyMap<string, SourceContract> {
  const env: Record<string, string> = {}
  const entries = SOURCE_CASES.map((one) => {
    const keys = one.keys.map((key) => {
      const variable = `${one.name}_${key.id}`.toUpperCase().replaceAll('-', '_')
      env[variable] = writeSecret(one.preset.scheme.keyEncoding, key)
      return { id: key.id, secret: secret.env(variable) }
    })
    const { preset } = one
    const path = pathOf(one)
    const publicUrl = `https://hooks.example.test${path}`
    const source = { path, publicUrl, preset, routes: {}, otherwise: route({}), ...(keys.length > 0 ? { keys } : {}) }
    return [one.name, source] as const
  })
  const definition = defineConfig({ sources: Object.fromEntries(entries), destinations: {} })
  const resolved = resolveConfig(definition, { env, baseDir: spoolDir, now: Date.now() })
  if (resolved.kind === 'invalid') throw new Error(JSON.stringify(resolved.problems))
  return resolved.config.sources
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client
let proxy: TcpProxy
let spoolDir: string
let receiver: RunningReceiver
const visited: string[] = []

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  proxy = await startTcpProxy({ target: { port: Number(new URL(database.url).port) } })
  spoolDir = await mkdtemp(join(tmpdir(), 'counterfoil-sources-'))
  receiver = await startReceiver({
    settings: {
      databaseUrl: proxy.through(database.url),
      databasePool: 10,
      host: '127.0.0.1',
      port: 0,
      healthHost: '127.0.0.1',
      healthPort: 0,
      redisUrl: null,
      spoolDir,
      instance: 'sources',
      maxQueuedPushes: 1000,
      maxQueuedBytes: 64 * 1024 * 1024,
      clockToleranceMs: 2000,
      graceMs: 3000,
      drainDelayMs: 0,
    },
    config: { sources: resolveSources() },
    log: createLogger({ level: 'silent', service: 'receiver' }),
    keyMaterial: PUBLISHED,
    confirm: async (url) => {
      visited.push(url)
      return null
    },
  })
})
afterAll(async () => {
  await receiver?.stop()
  await proxy.close()
  await client.end()
  await database.drop()
  await rm(spoolDir, { recursive: true, force: true })
})

async function sign(one: SourceCase, draft: Draft, key: SigningKey, at = Date.now()): Promise<SignedPush> {
  const publicUrl = `https://hooks.example.test${pathOf(one)}`
  const push = { method: 'POST', publicUrl, headers: draft.headers ?? {}, rawBody: Buffer.from(draft.body) }
  const { scheme } = one.preset
  if (scheme.sign === null) throw new Error(`${one.name} can't sign`)
  return scheme.sign(push, key, at)
}

/** Over a real socket, with the query that the signer may have added. */
function send(one: SourceCase, push: SignedPush): Promise<RawAnswer> {
  const target = pathOf(one) + new URL(push.publicUrl ?? '').search
  const lines = Object.entries(push.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const framing = `Host: x\r\nContent-Length: ${push.rawBody.length}\r\nConnection: close\r\n`
  const head = `${push.method} ${target} HTTP/1.1\r\n${framing}${lines.join('')}\r\n`
  return rawHttp(receiver.port, Buffer.concat([Buffer.from(head, 'latin1'), push.rawBody]))
}

type PushOptions = { readonly attempt?: number; readonly key?: SigningKey; readonly at?: number }

async function push(one: SourceCase, id: string, options: PushOptions = {}): Promise<RawAnswer> {
  const key = options.key ?? one.signingKeys[0]
  return send(one, await sign(one, one.draft(id, options.attempt ?? 1, key), key, options.at))
}

type Row = { readonly id: string; readonly key: string; readonly kind: string }

/** Every arrival on record of a source, by delivery. */
async function readArrivals(one: SourceCase): Promise<readonly Row[]> {
  const { rows } = await client.query<Row>(
    `SELECT d.id::text AS id, o.key_id AS key, o.kind FROM counterfoil.observation o
     JOIN counterfoil.delivery d ON d.id = o.delivery WHERE d.source = $1 ORDER BY d.id, o.number`,
    [one.name],
  )
  return rows
}

const countClaims = async (one: SourceCase) => new Set((await readArrivals(one)).map(({ id }) => id)).size
const refusedBy = (one: SourceCase) => one.refused ?? 401

/** The last byte of the body that is not a bracket or a quote, with another one in its place. */
function changeBody(push: SignedPush): SignedPush {
  const rawBody = Buffer.from(push.rawBody)
  const at = rawBody.toString('latin1').search(/\d(?=\D*$)/)
  rawBody[at === -1 ? 0 : at] = (rawBody[at === -1 ? 0 : at] ?? 0) ^ 1
  return { ...push, rawBody }
}

/** One byte in the middle of whatever the signer added to the headers. */
function changeCredential(push: SignedPush, draft: Draft): SignedPush {
  const name = Object.keys(push.headers).find((header) => draft.headers?.[header] === undefined) ?? ''
  const value = push.headers[name] ?? ''
  const at = value.length >> 1
  // Not a letter: hex is the same in either case.
  const other = value[at] === '0' ? '1' : '0'
  return { ...push, headers: { ...push.headers, [name]: value.slice(0, at) + other + value.slice(at + 1) } }
}

describe.each(SOURCE_CASES.map((one) => [one.name, one] as const))('%s', (_name, one) => {
  const [oldKey, newKey] = one.signingKeys

  it('accepts a push as its sender wants, and again with the same answer and one claim (I2) (case B027: scope of a delivery id)', async () => {
    const before = await countClaims(one)
    const first = await push(one, 'd-1')
    expect(first.status).toBe(one.accepted)
    const again = await push(one, 'd-1')
    // A digest of the body is the only id that some have: their repeats are the same bytes.
    const retried = await push(one, 'd-1', { attempt: 2, at: Date.now() + 2000 })
    for (const repeat of [again, retried]) {
      expect([repeat.status, repeat.body]).toEqual([first.status, first.body])
    }
    expect(await countClaims(one)).toBe(before + 1)
    expect((await readArrivals(one)).slice(-3).map(({ kind }) => kind)).toEqual(['first', 'duplicate', 'duplicate'])
  })

  it('refuses it when one byte was changed on the way', async () => {
    const before = await countClaims(one)
    const draft = one.draft('d-2', 1, oldKey)
    const signed = await sign(one, draft, oldKey)
    if (one.preset.scheme.binds.body) {
      expect((await send(one, changeBody(signed))).status).toBe(refusedBy(one))
    }
    if (one.preset.scheme.family !== 'sns') {
      expect((await send(one, changeCredential(signed, draft))).status).toBe(refusedBy(one))
    }
    expect(await countClaims(one)).toBe(before)
    expect((await send(one, signed)).status).toBe(one.accepted)
    if (one.preset.scheme.binds.body) return
    // What only says who sends can't tell; such a source is for senders that TLS alone keeps strangers from.
    expect((await send(one, changeBody(signed))).status).toBe(one.accepted)
  })

  it('takes the old key and the new one, and keeps which it was', async () => {
    expect((await push(one, 'k-old', { key: oldKey })).status).toBe(one.accepted)
    expect((await push(one, 'k-new', { key: newKey })).status).toBe(one.accepted)
    const keyIds = one.keyIds ?? [oldKey.id, newKey.id]
    expect((await readArrivals(one)).slice(-2).map(({ key }) => key)).toEqual(keyIds)
  })

  if (one.preset.scheme.toleranceMs !== null)
    it('refuses what was signed too long ago', async () => {
      const before = await countClaims(one)
      expect((await push(one, 'd-stale', { at: Date.now() - 2 * HOUR_MS })).status).toBe(refusedBy(one))
      expect(await countClaims(one)).toBe(before)
    })

  if (one.unusable !== undefined)
    it('answers what can never be used with the word for it', async () => {
      const { headers = {} } = one.draft('d-unusable', 1, oldKey)
      const answer = await send(one, await sign(one, { headers, body: 'no JSON' }, oldKey))
      expect(answer.status).toBe(one.unusable?.status)
      const [name, value] = one.unusable?.header ?? []
      if (name !== undefined) expect(answer.headers.get(name)).toBe(value)
    })

  if (one.batch !== undefined)
    it('takes a batch all or nothing, and knows every one of it again (I2)', async () => {
      const { batch } = one
      if (batch === undefined) return
      const before = await countClaims(one)
      const signed = await sign(one, batch(['b-1', 'b-2', 'b-3']), oldKey)
      proxy.refuse()
      expect((await send(one, signed)).status).toBe(503)
      proxy.restore()
      await until(async () => (await fetch(`http://127.0.0.1:${receiver.healthPort}/readyz`)).status === 200)
      expect(await countClaims(one)).toBe(before)
      expect((await send(one, signed)).status).toBe(one.accepted)
      expect((await send(one, signed)).status).toBe(one.accepted)
      const arrivals = (await readArrivals(one)).slice(-6).map(({ kind }) => kind)
      expect(arrivals).toEqual(['first', 'duplicate', 'first', 'duplicate', 'first', 'duplicate'])
      expect(await countClaims(one)).toBe(before + 3)
    })

  if (one.handshake !== undefined)
    it('answers its handshake, and claims nothing', async () => {
      const { handshake } = one
      if (handshake === undefined) return
      const before = await countClaims(one)
      const signed = await sign(one, handshake, oldKey)
      const answer = await send(one, { ...signed, method: handshake.method ?? 'POST' })
      expect([answer.status, answer.body]).toEqual([200, handshake.answer.body])
      for (const [name, value] of Object.entries(handshake.answer.headers ?? {})) {
        expect(answer.headers.get(name)).toBe(value)
      }
      if (handshake.method === undefined && one.name !== 'sns') {
        expect((await send(one, changeCredential(signed, handshake))).status).toBe(refusedBy(one))
      }
      expect(await countClaims(one)).toBe(before)
    })
})

describe('a subscription of SNS', () => {
  it('was confirmed by a visit to the link that the signature covers', () => {
    expect(visited).toEqual([expect.stringMatching(/^https:\/\/sns\.eu-west-1\.amazonaws\.com\/\?Action=Confirm/)])
  })
})

describe('while the database is away', () => {
  it('every sender hears 503, and its repeat is taken when the database is back', async () => {
    proxy.refuse()
    const away = await Promise.all(SOURCE_CASES.map((one) => push(one, 'd-away')))
    proxy.restore()
    expect(away.map(({ status }) => status)).toEqual(SOURCE_CASES.map(() => 503))
    expect(away.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true)
    await until(async () => (await fetch(`http://127.0.0.1:${receiver.healthPort}/readyz`)).status === 200)
    const back = await Promise.all(SOURCE_CASES.map((one) => push(one, 'd-away', { attempt: 2 })))
    expect(back.map(({ status }) => status)).toEqual(SOURCE_CASES.map(({ accepted }) => accepted))
  })
})
