import { type Decision, decide, workerLost } from '@counterfoil/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPlacement, closeAttempts, type ExpiredLease, expireLeases, handBackLease } from './index.js'
import { closeOf, HOLD, type Outbox, only, openOutbox, retryIn } from './outbox.int-setup.js'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(async () => {
  expect(await checkPlacement(outbox.database)).toEqual([])
  await outbox.close()
})

const RETRY = retryIn(0, 'uncertain_with_key')

describe('expireLeases', () => {
  it('makes the attempt of a lost worker uncertain, decided by what is passed in (case B061: entry stuck after a crash)', async () => {
    const id = only(await outbox.addEntries(1))
    const leased = await outbox.leaseOne({ worker: 'gone' })
    await outbox.expire(id)
    const seen: ExpiredLease[] = []
    const result = await expireLeases(outbox.database, {
      limit: 10,
      decide: (expired) => {
        seen.push(expired)
        return HOLD
      },
    })
    expect(result).toEqual({ expired: 1, destinations: [] })
    expect(only(seen)).toMatchObject({
      entryId: id,
      token: leased.lease.token,
      worker: 'gone',
      attempt: 1,
      history: { attempts: 0, tries: 0, uncertainSince: null },
    })
    expect(await outbox.attempts(id)).toMatchObject([
      { outcome: 'uncertain', cause: 'worker_lost', worker: 'gone', decision: 'hold', key_sent: null },
    ])
    expect(await outbox.entry(id)).toMatchObject({ state: 'uncertain', reason: 'no_key' })
  })

  it('names the destinations with entries that are due again, and judges them by the key window', async () => {
    await outbox.addEntries(3)
    await outbox.addEntries(1, { destination: 'mail' })
    for (const one of [...(await outbox.lease(10)), ...(await outbox.lease(10, { destination: 'mail' }))]) {
      await outbox.expire(one.id)
    }
    const contract = {
      idempotency: { kind: 'header', header: 'k', quoted: false, lifetimeMs: 86_400_000, marginMs: 0 },
      retry: { firstMs: 5_000, capMs: 5_000, maxAttempts: 5, maxAgeMs: 86_400_000, maxRetryAfterMs: 0 },
    } as const
    const result = await expireLeases(outbox.database, {
      limit: 100,
      decide: ({ history, now }): Decision => decide(workerLost(), history, contract, now, Math.random),
    })
    expect(result.expired).toBe(4)
    expect(result.destinations.sort()).toEqual(['crm', 'mail'])
    expect(
      await outbox.rows('SELECT count(*)::int AS n FROM counterfoil.due WHERE uncertain_since IS NOT NULL'),
    ).toEqual([{ n: 4 }])
  })

  it('leaves a lease alone during its grace', async () => {
    await outbox.addEntries(1)
    const leased = await outbox.leaseOne()
    await outbox.rows(
      `UPDATE counterfoil.lease SET opened_at = clock_timestamp() - interval '1 minute',
              expires_at = clock_timestamp() - interval '5 seconds'`,
    )
    const request = { limit: 10, decide: () => RETRY }
    expect((await expireLeases(outbox.database, request)).expired).toBe(0)
    expect((await expireLeases(outbox.database, { ...request, graceMs: 60_000 })).expired).toBe(0)
    expect(await closeAttempts(outbox.database, [closeOf(leased)])).toMatchObject([{ kind: 'recorded' }])
  })

  it('is safe with any number of rescuers at once', async () => {
    await outbox.addEntries(200)
    await outbox.lease(200)
    await outbox.rows(
      "UPDATE counterfoil.lease SET opened_at = opened_at - interval '2 hours', expires_at = expires_at - interval '2 hours'",
    )
    const rescuers = Array.from({ length: 8 }, async () => {
      let expired = 0
      for (;;) {
        const page = await expireLeases(outbox.database, { limit: 15, decide: () => retryIn(60_000) })
        if (page.expired === 0) return expired
        expired += page.expired
      }
    })
    expect((await Promise.all(rescuers)).reduce((sum, count) => sum + count)).toBe(200)
    expect(await outbox.rows('SELECT count(*)::int AS n FROM counterfoil.attempt')).toEqual([{ n: 200 }])
  })

  it('and a close that races it end in exactly one record', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = only(await outbox.addEntries(1))
      const leased = only((await outbox.lease(10)).filter((one) => one.id === id))
      await outbox.expire(id)
      const [closed, rescued] = await Promise.all([
        closeAttempts(outbox.database, [closeOf(leased)]),
        expireLeases(outbox.database, { limit: 10, decide: () => HOLD }),
      ])
      const wasClosed = only(closed).kind === 'recorded'
      expect(rescued.expired).toBe(wasClosed ? 0 : 1)
      expect((await outbox.entry(id)).state).toBe(wasClosed ? 'delivered' : 'uncertain')
      expect(await outbox.attempts(id)).toHaveLength(1)
    }
  })

  it('rescues the others when one lease cannot be recorded (case B061: entry stuck after a crash)', async () => {
    const ids = await outbox.addEntries(3)
    await outbox.lease(3)
    for (const id of ids) await outbox.expire(id)
    await outbox.rows(
      `INSERT INTO counterfoil.attempt (entry, number, token, worker, opened_at, outcome, cause, decision)
       VALUES ($1, 1, gen_random_uuid(), 'x', now(), 'not_sent', 'connect', 'retry')`,
      [ids[1]],
    )
    const result = await expireLeases(outbox.database, { limit: 10, decide: () => retryIn(60_000) })
    expect(result.expired).toBe(2)
    expect(await outbox.rows('SELECT entry FROM counterfoil.lease')).toEqual([{ entry: ids[1] }])
  })
})

describe('handBackLease', () => {
  it('returns what a lost lease call took, as not sent, at once and without spending a try', async () => {
    await outbox.addEntries(3)
    const token = crypto.randomUUID()
    const leased = await outbox.lease(3, { token, worker: 'w1' })
    expect(await handBackLease(outbox.database, { token, worker: 'w1' })).toBe(3)
    expect(await handBackLease(outbox.database, { token, worker: 'w1' })).toBe(0)
    for (const { id } of leased) {
      expect(await outbox.due(id)).toMatchObject([{ attempts: 1, tries: 0, first_sent_at: null }])
      expect(await outbox.attempts(id)).toMatchObject([
        { outcome: 'not_sent', cause: 'lease_returned', decision: 'hand_back' },
      ])
    }
    expect((await outbox.lease(3)).map(({ lease }) => lease.attempt)).toEqual([2, 2, 2])
  })

  it("returns nothing of another worker's, and a close after it has lost its lease", async () => {
    await outbox.addEntries(1)
    const leased = await outbox.leaseOne()
    const { token } = leased.lease
    expect(await handBackLease(outbox.database, { token, worker: 'other' })).toBe(0)
    expect(await handBackLease(outbox.database, { token, worker: 'w1' })).toBe(1)
    expect(await closeAttempts(outbox.database, [closeOf(leased)])).toEqual([{ kind: 'lease_lost' }])
  })

  it('keeps the first-sent time and the doubt of earlier attempts', async () => {
    await outbox.addEntries(1)
    const first = await outbox.leaseOne()
    await closeAttempts(outbox.database, [closeOf(first, workerLost(), RETRY)])
    const second = await outbox.leaseOne()
    await handBackLease(outbox.database, { token: second.lease.token, worker: 'w1' })
    const third = await outbox.leaseOne()
    expect(third.history).toMatchObject({ attempts: 2, tries: 1, firstSentAt: first.lease.openedAt })
    expect(third.history.uncertainSince).toBe(first.lease.openedAt)
  })
})
