import { performance } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPlacement, closeAttempts, leaseDue, pauseDestination, readDestinationStates } from './index.js'
import { ACCEPTED, closeOf, DOUBTFUL, FINISH, type Outbox, only, openOutbox, retryIn } from './outbox.int-setup.js'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

async function endPause(destination: string): Promise<void> {
  await outbox.rows(
    "UPDATE counterfoil.destination_state SET paused_until = clock_timestamp() - interval '1 second' WHERE destination = $1",
    [destination],
  )
}

describe('leaseDue', () => {
  it('gives the entry with its frozen bytes, its history and times that agree', async () => {
    const id = only(await outbox.addEntries(1))
    const before = performance.now()
    const leased = await outbox.leaseOne({ leaseMs: 60_000 })
    expect(leased).toMatchObject({ id, destination: 'crm', contentType: 'application/json' })
    expect(leased.body.toString()).toBe('{"n":1}')
    expect(leased.lease.attempt).toBe(1)
    expect(leased.lease.expiresAt - leased.lease.openedAt).toBeCloseTo(60_000, 1)
    expect(leased.lease.askedAt).toBeGreaterThanOrEqual(before)
    expect(leased.lease.sendBefore - leased.lease.askedAt).toBeCloseTo(55_000, 1)
    expect(leased.history).toMatchObject({ attempts: 0, tries: 0, uncertainSince: null })
    expect(leased.history.firstSentAt).toBe(leased.lease.openedAt)
    expect(leased.lease.dueAt).toBeLessThan(leased.lease.openedAt)
  })

  it('has the attempt on record before anything is sent (I4)', async () => {
    const id = only(await outbox.addEntries(1))
    const leased = await outbox.leaseOne({ worker: 'w7' })
    const evidence = await outbox.rows('SELECT token, worker, attempt FROM counterfoil.lease WHERE entry = $1', [id])
    expect(evidence).toEqual([{ token: leased.lease.token, worker: 'w7', attempt: 1 }])
    expect(await outbox.due(id)).toEqual([])
  })

  it('gives the longest due first, and nothing that is not due or is of another destination', async () => {
    const [late, early] = [
      await outbox.addEntries(1, { dueInMs: -1_000 }),
      await outbox.addEntries(1, { dueInMs: -9_000 }),
    ]
    await outbox.addEntries(1, { dueInMs: 60_000 })
    await outbox.addEntries(1, { destination: 'mail' })
    expect((await outbox.lease(1)).map(({ id }) => id)).toEqual(early)
    expect((await outbox.lease(10)).map(({ id }) => id)).toEqual(late)
    expect(await outbox.lease(0)).toEqual([])
  })

  it('looks only above the hint when it is given one', async () => {
    await outbox.addEntries(1, { dueInMs: -60_000 })
    const recent = await outbox.addEntries(1, { dueInMs: -1_000 })
    const found = await leaseDue(outbox.database, {
      destination: 'crm',
      limit: 10,
      leaseMs: 1_000,
      sendMarginMs: 100,
      worker: 'w1',
      token: crypto.randomUUID(),
      dueFrom: new Date(Date.now() - 30_000),
    })
    expect(found.map(({ id }) => id)).toEqual(recent)
    expect(await outbox.lease(10)).toHaveLength(1)
  })

  it('never leases an entry twice under 20 concurrent leasers (I12)', async () => {
    await outbox.addEntries(1_000)
    const seen: string[] = []
    const perWorker = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        let count = 0
        for (;;) {
          const leased = await outbox.lease(7, { worker: `w${at}` })
          if (leased.length === 0) return count
          count += leased.length
          seen.push(...leased.map(({ id }) => id))
        }
      }),
    )
    expect(new Set(seen).size).toBe(1_000)
    expect(seen).toHaveLength(1_000)
    // All take part: none of them waits for another's rows.
    expect(perWorker.filter((count) => count > 0).length).toBeGreaterThanOrEqual(2)
    expect(await checkPlacement(outbox.database)).toEqual([])
  })

  it('keeps the first-sent time and the doubt of earlier attempts', async () => {
    const id = only(await outbox.addEntries(1))
    const first = await outbox.leaseOne()
    await closeAttempts(outbox.database, [closeOf(first, DOUBTFUL, retryIn(0, 'uncertain_with_key'))])
    const second = await outbox.leaseOne()
    expect(second.id).toBe(id)
    expect(second.lease.attempt).toBe(2)
    expect(second.history).toMatchObject({ attempts: 1, tries: 1, firstSentAt: first.lease.openedAt })
    expect(second.history.uncertainSince).toBe(first.lease.openedAt)
  })

  it('counts the age of a redriven entry from then', async () => {
    const id = only(await outbox.addEntries(1))
    await outbox.rows("UPDATE counterfoil.entry SET redriven_at = '2100-01-01Z' WHERE id = $1", [id])
    expect((await outbox.leaseOne()).history.createdAt).toBe(Date.UTC(2100, 0, 1))
  })
})

describe('a paused destination', () => {
  it.each(['operator', 'credentials', 'throttled', 'gone'] as const)(
    'gives nothing while paused: %s',
    async (reason) => {
      await outbox.addEntries(3)
      await outbox.addEntries(1, { destination: 'mail' })
      await pauseDestination(outbox.database, 'crm', {
        reason,
        forMs: reason === 'operator' ? null : 60_000,
        detail: null,
      })
      expect(await outbox.lease(10)).toEqual([])
      expect(await outbox.lease(10, { destination: 'mail' })).toHaveLength(1)
    },
  )

  it('gives one probe at a time after its pause, until an answer clears it', async () => {
    await outbox.addEntries(5)
    await pauseDestination(outbox.database, 'crm', { reason: 'credentials', forMs: 60_000, detail: null })
    await endPause('crm')
    const probe = only(await outbox.lease(10))
    expect(await outbox.lease(10)).toEqual([])

    await closeAttempts(outbox.database, [closeOf(probe, DOUBTFUL, retryIn(60_000, 'uncertain_with_key'))])
    const next = only(await outbox.lease(10))
    await closeAttempts(outbox.database, [closeOf(next, ACCEPTED, FINISH)])
    expect(await outbox.lease(10)).toHaveLength(3)
    expect(only(await readDestinationStates(outbox.database)).paused).toBeNull()
  })

  it('is not cleared by the answer to a request that left before the pause', async () => {
    await outbox.addEntries(4)
    const [refused, before] = await outbox.lease(2)
    if (refused === undefined || before === undefined) throw new Error('two were due')
    await closeAttempts(outbox.database, [
      closeOf(refused, { kind: 'unauthorised', status: 401 }, pauseFor('credentials', 60_000)),
    ])
    await closeAttempts(outbox.database, [closeOf(before)])
    expect(await outbox.lease(10)).toEqual([])
    const paused = only(await readDestinationStates(outbox.database)).paused
    expect(paused).toMatchObject({ reason: 'credentials' })
  })

  it('takes the longest of several wishes, and a lighter reason does not replace a graver one', async () => {
    await outbox.addEntries(3)
    const [a, b, c] = await outbox.lease(3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were due')
    await closeAttempts(outbox.database, [
      closeOf(a, { kind: 'deferred', status: 429, notBefore: null }, pauseFor('throttled', 5_000)),
      closeOf(b, { kind: 'deferred', status: 429, notBefore: null }, pauseFor('throttled', 600_000)),
    ])
    const throttled = only(await readDestinationStates(outbox.database)).paused
    expect((throttled?.until?.getTime() ?? 0) - (throttled?.at.getTime() ?? 0)).toBeGreaterThan(590_000)

    await pauseDestination(outbox.database, 'crm', { reason: 'operator', forMs: null, detail: 'maintenance' })
    await closeAttempts(outbox.database, [
      closeOf(c, { kind: 'unauthorised', status: 401 }, pauseFor('credentials', 60_000)),
    ])
    expect(only(await readDestinationStates(outbox.database)).paused).toMatchObject({ reason: 'operator', until: null })
  })

  it('stops for good when the destination is gone', async () => {
    const ids = await outbox.addEntries(2)
    const leased = await outbox.leaseOne()
    await closeAttempts(outbox.database, [
      closeOf(
        leased,
        { kind: 'rejected', status: 410, reason: 'gone' },
        { kind: 'dead_letter', because: 'rejected', stopsDestination: 'gone' },
      ),
    ])
    expect(ids).toContain(leased.id)
    expect(await outbox.lease(10)).toEqual([])
    expect(only(await readDestinationStates(outbox.database)).paused).toMatchObject({ reason: 'gone', until: null })
  })
})

function pauseFor(because: 'credentials' | 'throttled', pauseMs: number) {
  return { kind: 'pause', because, dueInMs: 0, pauseMs } as const
}
