import { createHash, randomFillSync } from 'node:crypto'
import {
  type ActionDraft,
  type ClaimResult,
  type ConditionalUpdate,
  createUuidV7Generator,
  freezeAction,
  type NotDuePolicy,
  type PlannedDelivery,
  type PlannedPush,
  type Transition,
} from '@counterfoil/core'
import { freshDatabase } from '@counterfoil/testkit'
import pg from 'pg'
import { type Database, openDatabase } from '../connection/index.js'
import { createPostgresIntakeStore, type PostgresIntakeStore } from './index.js'

export const newId: () => string = createUuidV7Generator({
  now: Date.now,
  fillRandom: (pool) => void randomFillSync(pool),
})

export const expireHold: ConditionalUpdate = {
  kind: 'conditional_update',
  name: 'expire_hold',
  table: 'public.hold',
  idColumn: 'id',
  stateColumn: 'state',
  from: 'held',
  to: 'expired',
  dueAtColumn: 'due_at',
  returning: ['place'],
  actions: (subject) => [{ destination: 'carrier', idempotencyKey: `expire:${subject}`, body: { subject } }],
  sweep: { everyMs: 1000, graceMs: 0, batch: 50 },
}

export type Plan = {
  readonly deliveryId: string
  readonly source?: string
  readonly body?: string
  readonly actions?: readonly ActionDraft[]
  readonly expires?: string
  readonly by?: Transition
  readonly guardMs?: number
  readonly notDue?: NotDuePolicy
}

export function arrive(plan: Plan): PlannedDelivery {
  const body = Buffer.from(plan.body ?? plan.deliveryId)
  const transition =
    plan.expires === undefined
      ? null
      : {
          transition: plan.by ?? expireHold,
          subject: plan.expires,
          guardMs: plan.guardMs ?? null,
          notDue: plan.notDue ?? 'discard',
          payload: null,
        }
  return {
    id: newId(),
    observationId: newId(),
    source: plan.source ?? 'queue',
    deliveryId: plan.deliveryId,
    identityDigest: createHash('sha256').update(body).digest(),
    eventType: null,
    keyId: 'k1',
    senderAttempt: null,
    eventAt: null,
    senderOrderingKey: null,
    body,
    contentType: null,
    references: [
      { name: 'id', value: plan.deliveryId, personal: false },
      { name: 'kind', value: 'test', personal: false },
    ],
    disposition: {
      kind: 'act',
      transition,
      entries: (plan.actions ?? []).map((draft) => freezeAction(draft, newId)),
    },
  }
}

export function push(...plans: Plan[]): PlannedPush {
  return { deliveries: plans.map(arrive) }
}

export function notify(key: string): ActionDraft {
  return { destination: 'crm', idempotencyKey: key, body: `body of ${key}` }
}

export type Intake = {
  readonly url: string
  readonly database: Database
  readonly store: PostgresIntakeStore
  readonly claim: (push: PlannedPush, deadlineMs?: number) => Promise<ClaimResult>
  /** One number from one query. */
  readonly count: (from: string, ...values: unknown[]) => Promise<number>
  readonly hold: (id: string, dueInMs: number, state?: string) => Promise<void>
  readonly stateOf: (id: string) => Promise<string | undefined>
  /** A session of a stranger; ended with the fixture. */
  readonly stranger: () => Promise<pg.Client>
  readonly close: () => Promise<void>
}

/** A cloned database with a business table and a store on it. `through`: what the store connects to instead. */
export async function openIntake(
  options: {
    readonly through?: (url: string) => string
    readonly statementTimeoutMs?: number
    readonly customTimeoutMs?: number
  } = {},
): Promise<Intake> {
  const clone = await freshDatabase()
  const open = (url: string, name: string) =>
    openDatabase({
      url,
      max: 10,
      applicationName: name,
      role: null,
      statementTimeoutMs: options.statementTimeoutMs ?? 10_000,
      connectTimeoutMs: 2_000,
      onlyByKey: true,
    })
  const database = open(options.through?.(clone.url) ?? clone.url, 'intake-store')
  const direct = open(clone.url, 'intake-test')
  await direct.pool.query(
    'CREATE TABLE public.hold (id text PRIMARY KEY, state text NOT NULL, due_at timestamptz, place text)',
  )
  const strangers: pg.Client[] = []
  const store = openStore(database, options.customTimeoutMs)
  return {
    url: clone.url,
    database,
    store,
    claim: (planned, deadlineMs = 10_000) => store.claim(planned, { deadlineAt: performance.now() + deadlineMs }),
    count: async (from, ...values) => {
      const { rows } = await direct.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`, values)
      return rows[0]?.n ?? -1
    },
    hold: async (id, dueInMs, state = 'held') => {
      await direct.pool.query(
        `INSERT INTO public.hold VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 ms', 'here')`,
        [id, state, dueInMs],
      )
    },
    stateOf: async (id) =>
      (await direct.pool.query<{ state: string }>('SELECT state FROM public.hold WHERE id = $1', [id])).rows[0]?.state,
    stranger: async () => {
      const client = new pg.Client({ connectionString: clone.url })
      client.on('error', () => {})
      await client.connect()
      strangers.push(client)
      return client
    },
    close: async () => {
      await Promise.all(strangers.map((client) => client.end().catch(() => {})))
      await store.drain()
      await database.close()
      await direct.close()
      await clone.drop()
    },
  }
}

export function openStore(database: Database, customTimeoutMs?: number): PostgresIntakeStore {
  return createPostgresIntakeStore({
    database,
    instance: 'test',
    maxQueuedPushes: 5_000,
    maxQueuedBytes: 64 * 1024 * 1024,
    log: { warn: () => {}, error: () => {} },
    ...(customTimeoutMs === undefined ? {} : { customTimeoutMs }),
  })
}

/** The results of a push that must have been committed. */
export function results(result: ClaimResult) {
  if (result.kind !== 'committed') throw new Error(`not committed: ${JSON.stringify(result)}`)
  return result.results
}
