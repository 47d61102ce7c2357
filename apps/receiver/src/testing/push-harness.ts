import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import {
  createHmacTimestamped,
  createUuidV7Generator,
  type KeyMaterial,
  NO_KEY_MATERIAL,
  PLAIN_CONTRACT,
  type Route,
  type SourceContract,
} from '@counterfoil/core'
import pino, { type Logger } from 'pino'
import { createAckRecorder } from '../ack-recorder.js'
import type { ClockReading } from '../clock-offset.js'
import { createPushHandler } from '../create-push-handler.js'
import { createPushServer, type PushServer } from '../create-push-server.js'
import { createIntakeBudget, type IntakeBudget } from '../intake-budget.js'
import type { PushDeps } from '../push-deps.js'
import type { PushHandler } from '../push-handler.js'
import { createRefusalLog } from '../refusal-log.js'
import { createScriptedStore, type ScriptedStore } from './scripted-store.js'

export const SECRET = 'a secret that no line may show'
export const KEY_ID = 'key-2026'

/** Any JSON, one action for `crm`, two references of which one is personal. */
const ROUTE: Route = {
  parse: null,
  references: () => [
    { name: 'ticket', value: 'ticket-4821', personal: false },
    { name: 'email', value: 'ann@example.org', personal: true },
  ],
  transition: null,
  actions: (event) => [
    { destination: 'crm', idempotencyKey: `key-${event.deliveryId}`.slice(0, 200), body: { hello: 'crm' } },
  ],
}

export function makeSource(
  changes: Partial<SourceContract> = {},
  ack: Partial<SourceContract['ack']> = {},
): SourceContract {
  const scheme = createHmacTimestamped({ signatureHeader: 'x-signature', timestampHeader: 'x-timestamp' })
  return {
    ...PLAIN_CONTRACT,
    name: 'tickets',
    path: '/hooks/tickets',
    publicUrl: null,
    verify: scheme.verify,
    sign: scheme.sign,
    binds: scheme.binds,
    keys: () => [{ id: KEY_ID, secret: Buffer.from(SECRET) }],
    deliveryId: { kind: 'header', header: 'x-delivery-id' },
    senderAttempt: { kind: 'header', header: 'x-attempt' },
    eventType: { kind: 'fixed', value: 'ticket.updated' },
    volatilePointers: [],
    maxAge: null,
    bodyLimitBytes: 256 * 1024,
    ack: {
      status: 204,
      body: null,
      fixedBody: null,
      senderTimeoutMs: 5000,
      deadlineMs: 2500,
      onConflict: 'accept',
      onMalformed: 'refuse_400',
      ...ack,
    },
    redeliveryHorizonMs: 86_400_000,
    routes: new Map([['ticket.updated', ROUTE]]),
    otherwise: null,
    ...changes,
  }
}

export type SignOptions = { readonly id?: string; readonly at?: number; readonly path?: string }

/** Header lines of a correctly signed push, each ended by CRLF, without any framing header. */
export function signedHeaders(body: string | Buffer, options: SignOptions = {}): string {
  const timestamp = Math.floor((options.at ?? Date.now()) / 1000)
  const signature = createHmac('sha256', SECRET).update(`${timestamp}.`).update(body).digest('hex')
  const id =
    options.id === undefined ? 'X-Delivery-Id: d-1\r\n' : options.id === '' ? '' : `X-Delivery-Id: ${options.id}\r\n`
  return `Host: x\r\nX-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\nX-Attempt: 3\r\n${id}`
}

/** A whole signed request that closes its connection. `extra` are header lines, each ended by CRLF. */
export function signedRequest(body: string | Buffer, options: SignOptions = {}, extra = ''): Buffer {
  const bytes = Buffer.from(body)
  const head =
    `POST ${options.path ?? '/hooks/tickets'} HTTP/1.1\r\n${signedHeaders(bytes, options)}` +
    `Content-Length: ${bytes.length}\r\nConnection: close\r\n${extra}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

export type LogLine = Record<string, unknown> & { readonly msg: string }

export type PushHarness = {
  readonly port: number
  readonly handler: PushHandler
  readonly pushServer: PushServer
  readonly store: ScriptedStore
  readonly budget: IntakeBudget
  readonly lines: () => readonly LogLine[]
  /** The lines as one text, to look for what must not be there. */
  readonly logText: () => string
  readonly woken: string[]
  readonly spooled: string[]
  readonly close: () => Promise<void>
}

export type HarnessOptions = {
  readonly keyMaterial?: KeyMaterial
  readonly confirm?: PushDeps['confirm']
  readonly sources?: readonly SourceContract[]
  readonly clock?: () => ClockReading
  readonly closing?: () => boolean
  readonly bodyTimeoutMs?: number
  readonly requestTimeoutMs?: number
  readonly maxPushes?: number
  readonly maxBytes?: number
  readonly refusedLinesPerSecond?: number
}

/** The real handler on the real server, over a store in memory. */
export async function startPushHarness(options: HarnessOptions = {}): Promise<PushHarness> {
  const written: string[] = []
  const log: Logger = pino({ level: 'debug', base: null }, { write: (line: string) => void written.push(line) })
  const store = createScriptedStore()
  const woken: string[] = []
  const spooled: string[] = []
  const budget = createIntakeBudget({ maxPushes: options.maxPushes ?? 100, maxBytes: options.maxBytes ?? 10_000_000 })
  const refusals = createRefusalLog({
    log,
    linesPerSecond: options.refusedLinesPerSecond ?? 1000,
    now: () => performance.now(),
  })
  const deps: PushDeps = {
    sourcesByPath: new Map((options.sources ?? [makeSource()]).map((source) => [source.path, source])),
    store,
    keyMaterial: options.keyMaterial ?? NO_KEY_MATERIAL,
    confirm: options.confirm ?? (async () => null),
    budget,
    acks: createAckRecorder({ store, maxBuffered: 1000, log }),
    spool: { add: (trace) => void spooled.push(`${trace.deliveryId}: ${trace.cause}`), noteCommit: () => {} },
    refusals,
    readClock: options.clock ?? (() => ({ kind: 'known', now: Date.now(), offsetMs: 0 })),
    wake: (destination) => void woken.push(destination),
    newId: createUuidV7Generator({ now: Date.now, fillRandom: (pool) => crypto.getRandomValues(pool) }),
    random: () => 0.5,
    bodyTimeoutMs: options.bodyTimeoutMs ?? 30_000,
    isClosing: options.closing ?? (() => false),
    log,
  }
  const handler = createPushHandler(deps)
  const timeouts = options.requestTimeoutMs === undefined ? undefined : { requestTimeoutMs: options.requestTimeoutMs }
  const pushServer = createPushServer(handler, refusals, timeouts)
  await new Promise<void>((resolve) => pushServer.server.listen(0, '127.0.0.1', resolve))
  return {
    port: (pushServer.server.address() as AddressInfo).port,
    handler,
    pushServer,
    store,
    budget,
    lines: () => written.map((line) => JSON.parse(line) as LogLine),
    logText: () => written.join(''),
    woken,
    spooled,
    close: async () => {
      refusals.close()
      pushServer.closeAll()
      await new Promise((resolve) => pushServer.server.close(resolve))
    },
  }
}
