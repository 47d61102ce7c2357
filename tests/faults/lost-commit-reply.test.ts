import type { PlannedDelivery } from '@counterfoil/core'
import { createPostgresIntakeStore, type Database, openDatabase } from '@counterfoil/db'
import {
  endsWithReadyForQuery,
  freshDatabase,
  mentions,
  startTcpProxy,
  type TcpFault,
  type TcpProxy,
  type TestDatabase,
} from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { act, arrive, expire, notify, transition } from '../contracts/intake-plans.js'

/**
 * The arrow between the store and its client: PostgreSQL has committed and nobody is told, or nothing ever reached it.
 * From outside the two look alike.
 */
describe('the reply of a claim is lost', () => {
  let fresh: TestDatabase
  let proxy: TcpProxy
  let behind: Database
  let direct: Database

  beforeEach(async () => {
    fresh = await freshDatabase()
    proxy = await startTcpProxy({ target: { port: Number(new URL(fresh.url).port) } })
    direct = open(fresh.url)
    behind = open(proxy.through(fresh.url))
    await direct.pool.query('CREATE TABLE hold (id text PRIMARY KEY, state text, due_at timestamptz, place text)')
    await direct.pool.query(`INSERT INTO hold VALUES ('h1', 'held', now() - interval '1 minute', 'row 4')`)
  })
  afterEach(async () => {
    await behind.close()
    await proxy.close()
    await direct.close()
    await fresh.drop()
  })

  const claimAll = (deliveries: readonly PlannedDelivery[]) => {
    const log = { warn: () => {}, error: () => {} }
    const limits = { maxQueuedPushes: 1_000, maxQueuedBytes: 1 << 24 }
    const store = createPostgresIntakeStore({ database: behind, instance: 'faults', ...limits, log })
    const deadlineAt = performance.now() + 20_000
    return Promise.all(deliveries.map((delivery) => store.claim({ deliveries: [delivery] }, { deadlineAt })))
  }
  const count = async (from: string): Promise<number> =>
    (await direct.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`)).rows[0]?.n ?? -1

  const faults: readonly (readonly [string, TcpFault])[] = [
    [
      'after it took effect',
      { kind: 'lose_reply', when: mentions('claim_deliveries'), how: 'cut', isComplete: endsWithReadyForQuery },
    ],
    ['before it was sent', { kind: 'lose_request', when: mentions('claim_deliveries') }],
  ]

  it.each(faults)('I1 I2: 40 new deliveries cut off %s are each claimed once and first', async (_when, fault) => {
    const deliveries = Array.from({ length: 40 }, (_, n) =>
      arrive({ deliveryId: `d${n}`, disposition: act([notify(`key-${n}`)]) }),
    )
    proxy.arm(fault)
    const results = await claimAll(deliveries)
    expect(proxy.struck()).toBe(1)
    for (const result of results) {
      expect(result).toMatchObject({ kind: 'committed', results: [{ kind: 'first', observation: 1 }] })
    }
    expect(await count('counterfoil.delivery')).toBe(40)
    expect(await count('counterfoil.observation')).toBe(40)
    expect(await count('counterfoil.entry')).toBe(40)
    expect(await count('counterfoil.due')).toBe(40)
  })

  it('I2: repeats of one delivery cut off after the commit are counted once each (case B032: redelivery that leaves no trace)', async () => {
    proxy.arm({
      kind: 'lose_reply',
      when: mentions('recognise_arrivals'),
      how: 'cut',
      isComplete: endsWithReadyForQuery,
    })
    const copies = Array.from({ length: 20 }, () => arrive({ deliveryId: 'one', disposition: act([notify('key')]) }))
    const results = await claimAll(copies)
    expect(proxy.struck()).toBe(1)
    const numbers = results.flatMap((result) => (result.kind === 'committed' ? result.results : []))
    expect(numbers.map(({ observation }) => observation).sort((a, b) => a - b)).toEqual(copies.map((_, n) => n + 1))
    expect(numbers.filter(({ kind }) => kind === 'first')).toHaveLength(1)
    expect(await count('counterfoil.observation')).toBe(20)
    expect(await count('counterfoil.entry')).toBe(1)
  })

  it('I1 I8: a transition whose COMMIT lost its reply was made once, with its one entry', async () => {
    proxy.arm({ kind: 'lose_reply', when: mentions('COMMIT'), how: 'cut', isComplete: endsWithReadyForQuery })
    const [result] = await claimAll([
      arrive({ deliveryId: 'expiry', disposition: transition(expire('h1', 'discard')) }),
    ])
    expect(proxy.struck()).toBe(1)
    expect(result).toMatchObject({ kind: 'committed', results: [{ kind: 'first', outcome: 'applied' }] })
    expect(await count(`hold WHERE state = 'expired'`)).toBe(1)
    expect(await count('counterfoil.transition_outcome')).toBe(1)
    expect(await count('counterfoil.entry')).toBe(1)
  })
})

function open(url: string): Database {
  return openDatabase({
    url,
    max: 8,
    applicationName: 'faults',
    role: null,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 5_000,
  })
}
