import { hash } from 'node:crypto'
import type { AttemptOutcome, LeasedEntry } from '@counterfoil/core'
import { until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPlacement, closeAttempts } from './index.js'
import {
  ACCEPTED,
  closeOf,
  DEAD_LETTER,
  DOUBTFUL,
  FINISH,
  HOLD,
  type Outbox,
  only,
  openOutbox,
  REFUSED,
  retryIn,
  UNREACHABLE,
} from './outbox.int-setup.js'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(async () => {
  expect(await checkPlacement(outbox.database)).toEqual([])
  await outbox.close()
})

const RECORDED = { kind: 'recorded', hasLateOutcome: false }

async function leaseNew(): Promise<LeasedEntry> {
  await outbox.addEntries(1)
  return outbox.leaseOne()
}

describe('closeAttempts', () => {
  it('records each kind of end and moves each entry on, in one batch and in the order of the input', async () => {
    await outbox.addEntries(5)
    const [a, b, c, d, e] = await outbox.lease(5)
    if (!a || !b || !c || !d || !e) throw new Error('five were due')
    const repeat: AttemptOutcome = { kind: 'accepted', status: 201, repeat: true }
    const results = await closeAttempts(outbox.database, [
      closeOf(e, repeat, { ...FINISH, repeat: true } as typeof FINISH),
      closeOf(a, REFUSED, DEAD_LETTER),
      closeOf(b, DOUBTFUL, HOLD),
      closeOf(c, UNREACHABLE, retryIn(5_000), { keySent: null, digestSent: null }),
      closeOf(
        d,
        { kind: 'unauthorised', status: 401 },
        { kind: 'pause', because: 'credentials', dueInMs: 0, pauseMs: 1 },
      ),
    ])
    expect(results).toEqual([RECORDED, RECORDED, RECORDED, RECORDED, RECORDED])
    expect(await outbox.entry(e.id)).toMatchObject({ state: 'delivered', repeat: true, reason: null, attempts: 1 })
    expect(await outbox.entry(a.id)).toMatchObject({ state: 'dead_lettered', reason: 'rejected', tries: 1 })
    expect(await outbox.entry(b.id)).toMatchObject({ state: 'uncertain', reason: 'no_key' })
    expect((await outbox.entry(b.id)).uncertain_since?.getTime()).toBe(Math.trunc(b.lease.openedAt))
    expect(await outbox.due(c.id)).toMatchObject([{ attempts: 1, tries: 1, uncertain_since: null }])
    expect(await outbox.due(d.id)).toMatchObject([{ attempts: 1, tries: 0 }])
  })

  it('ends a doubt by a no that holds for earlier attempts too, and by no other (I6)', async () => {
    const first = await leaseNew()
    await closeAttempts(outbox.database, [closeOf(first, DOUBTFUL, retryIn(0, 'uncertain_with_key'))])
    const second = await outbox.leaseOne()
    expect(second.history.uncertainSince).not.toBeNull()
    const forAll: AttemptOutcome = { ...REFUSED, decidesEarlier: true } as AttemptOutcome
    const decision = { kind: 'dead_letter', because: 'rejected_for_all' } as const
    expect(await closeAttempts(outbox.database, [closeOf(second, forAll, decision)])).toEqual([RECORDED])
    expect(await outbox.entry(first.id)).toMatchObject({
      state: 'dead_lettered',
      reason: 'rejected_for_all',
      uncertain_since: null,
    })
  })

  it('writes what was sent, how it ended and what was decided', async () => {
    const leased = await leaseNew()
    await closeAttempts(outbox.database, [closeOf(leased, DOUBTFUL, HOLD, { detail: 'after 30 s' })])
    expect(await outbox.attempts(leased.id)).toMatchObject([
      {
        number: 1,
        outcome: 'uncertain',
        status: null,
        cause: 'waiting_for_answer',
        detail: 'UND_ERR_HEADERS_TIMEOUT: after 30 s',
        decision: 'hold',
        decision_reason: 'no_key',
        key_sent: leased.idempotencyKey,
        digest_sent: hash('sha256', leased.body, 'buffer'),
        duration_ms: 12,
      },
    ])
  })

  it('knows a close that it has recorded already, and changes nothing by it', async () => {
    const leased = await leaseNew()
    const close = closeOf(leased, DOUBTFUL, retryIn(60_000, 'uncertain_with_key'))
    expect(await closeAttempts(outbox.database, [close])).toEqual([RECORDED])
    expect(await closeAttempts(outbox.database, [close, close])).toEqual([RECORDED, RECORDED])
    expect(await outbox.attempts(leased.id)).toHaveLength(1)
    expect(await outbox.due(leased.id)).toHaveLength(1)
  })

  it('refuses whoever does not own the lease (I5)', async () => {
    const leased = await leaseNew()
    const stranger = { ...leased, lease: { ...leased.lease, token: crypto.randomUUID() } }
    expect(await closeAttempts(outbox.database, [closeOf(stranger)])).toEqual([{ kind: 'lease_lost' }])
    expect((await outbox.entry(leased.id)).state).toBe('pending')
    expect(await outbox.attempts(leased.id)).toEqual([])
  })

  it('closes one entry under two tokens in one batch: the old lease is lost, the new one recorded', async () => {
    const old = await leaseNew()
    await outbox.rows('UPDATE counterfoil.lease SET token = gen_random_uuid(), attempt = 2 WHERE entry = $1', [old.id])
    const { token } = only(await outbox.rows<{ token: string }>('SELECT token FROM counterfoil.lease'))
    const renewed = { ...old, lease: { ...old.lease, token, attempt: 2 } }
    const results = await closeAttempts(outbox.database, [closeOf(old), closeOf(renewed)])
    expect(results).toEqual([{ kind: 'lease_lost' }, RECORDED])
  })

  it('takes the first-sent time back when this very lease set it and nothing left', async () => {
    const leased = await leaseNew()
    await closeAttempts(outbox.database, [closeOf(leased, UNREACHABLE, retryIn(0))])
    expect(only(await outbox.due(leased.id)).first_sent_at).toBeNull()

    const second = await outbox.leaseOne()
    await closeAttempts(outbox.database, [closeOf(second, DOUBTFUL, retryIn(0, 'uncertain_with_key'))])
    const third = await outbox.leaseOne()
    await closeAttempts(outbox.database, [closeOf(third, UNREACHABLE, retryIn(0))])
    const fourth = await outbox.leaseOne()
    expect(fourth.history).toMatchObject({ attempts: 3, tries: 3, firstSentAt: second.lease.openedAt })
    expect(fourth.history.uncertainSince).toBe(second.lease.openedAt)
  })

  it('keeps the first-sent time of a request that was answered "not processed"', async () => {
    const leased = await leaseNew()
    const misdirected: AttemptOutcome = { kind: 'not_sent', cause: 'not_processed', code: null, status: 421 }
    await closeAttempts(outbox.database, [closeOf(leased, misdirected, retryIn(0))])
    expect((await outbox.leaseOne()).history.firstSentAt).toBe(leased.lease.openedAt)
    expect(only(await outbox.attempts(leased.id)).status).toBe(421)
  })

  it('goes on numbering after a redrive', async () => {
    const leased = await leaseNew()
    await closeAttempts(outbox.database, [closeOf(leased, REFUSED, DEAD_LETTER)])
    await outbox.rows(
      `WITH back AS (UPDATE counterfoil.entry SET state = 'pending', reason = NULL, closed_at = NULL, tries = 0
                      WHERE id = $1 RETURNING *)
       INSERT INTO counterfoil.due SELECT id, destination, clock_timestamp(), attempts, tries, first_sent_at FROM back`,
      [leased.id],
    )
    const again = await outbox.leaseOne()
    expect(again.lease.attempt).toBe(2)
    await closeAttempts(outbox.database, [closeOf(again)])
    expect((await outbox.attempts(leased.id)).map(({ number }) => number)).toEqual([1, 2])
  })

  it('stores hostile text harmlessly', async () => {
    const hostile = [
      'a\0b',
      '\ud800',
      'x\udc00y',
      '\r\n\u001b[31mred',
      '\u202egnp.exe',
      '🐘'.repeat(2_000),
      "'); DROP --",
    ]
    await outbox.addEntries(hostile.length)
    const leased = await outbox.lease(hostile.length)
    const closes = leased.map((one, at) => closeOf(one, DOUBTFUL, HOLD, { detail: hostile[at] ?? null }))
    expect(await closeAttempts(outbox.database, closes)).toEqual(hostile.map(() => RECORDED))
    for (const one of leased) {
      const detail = only(await outbox.attempts(one.id)).detail ?? ''
      expect(Buffer.byteLength(detail)).toBeLessThanOrEqual(1_000)
      expect(detail).not.toMatch(/[\p{Cc}\p{Surrogate}\u202e]/u)
    }
  })

  it('does not let one close that the database refuses fail its neighbours, and does not lose it', async () => {
    await outbox.addEntries(9)
    const leased = await outbox.lease(9)
    const closes = leased.map((one, at) => closeOf(one, ACCEPTED, FINISH, at === 4 ? { keySent: 'nul \0 byte' } : {}))
    expect(await closeAttempts(outbox.database, closes)).toEqual(leased.map(() => RECORDED))
    const poison = only(await outbox.attempts(leased[4]?.id ?? ''))
    expect(poison).toMatchObject({ outcome: 'accepted', key_sent: null })
    expect(poison.detail).toMatch(/could not be stored/)
  })

  it('never turns doubt into a dead letter, even when it is told to (I6)', async () => {
    const leased = await leaseNew()
    await closeAttempts(outbox.database, [closeOf(leased, DOUBTFUL, retryIn(0, 'uncertain_with_key'))])
    const again = await outbox.leaseOne()
    expect(await closeAttempts(outbox.database, [closeOf(again, REFUSED, DEAD_LETTER)])).toEqual([
      { kind: 'lease_lost' },
    ])
    expect((await outbox.entry(leased.id)).state).toBe('pending')
  })

  it('can not be undone: delivered never leaves', async () => {
    const leased = await leaseNew()
    await closeAttempts(outbox.database, [closeOf(leased)])
    const undo = outbox.rows("UPDATE counterfoil.entry SET state = 'pending', closed_at = NULL WHERE id = $1", [
      leased.id,
    ])
    await expect(undo).rejects.toThrow(/delivered: that never changes/)
  })

  it('closes concurrently without deadlocks, each entry once', async () => {
    await outbox.addEntries(600)
    const leases = await Promise.all(Array.from({ length: 6 }, (_, at) => outbox.lease(100, { worker: `w${at}` })))
    const closes = leases
      .flat()
      .map((one) => closeOf(one, { kind: 'deferred', status: 429, notBefore: null }, THROTTLED))
    // Everybody closes everything, in different orders: half of it is a repeat of what another is writing.
    const rounds = Array.from({ length: 6 }, (_, at) =>
      closeAttempts(outbox.database, at % 2 ? closes : [...closes].reverse()),
    )
    const recorded = leases.flat().map(() => RECORDED)
    for (const results of await Promise.all(rounds)) expect(results).toEqual(recorded)
    expect(await outbox.rows('SELECT count(*)::int AS n FROM counterfoil.attempt')).toEqual([{ n: 600 }])
  })

  it('updates each entry on its page (HOT), so that closing touches no index of it', async () => {
    const total = 400
    await outbox.addEntries(total)
    for (let done = 0; done < total; ) {
      const leased = await outbox.lease(100)
      await closeAttempts(
        outbox.database,
        leased.map((one) => closeOf(one)),
      )
      done += leased.length
    }
    const updates = await until(async () => {
      const [row] = await outbox.rows<{ all: number; hot: number }>(
        `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables
          WHERE schemaname = 'counterfoil' AND relname = 'entry'`,
      )
      return row?.all === total ? row : null
    })
    expect(updates.hot).toBeGreaterThan(0.95 * total)
  })
})

const THROTTLED = { kind: 'pause', because: 'throttled', dueInMs: 60_000, pauseMs: 1_000 } as const
