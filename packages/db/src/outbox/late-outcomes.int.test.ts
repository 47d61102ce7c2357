import { type AttemptOutcome, type Decision, workerLost } from '@counterfoil/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  applyLateOutcomes,
  checkPlacement,
  closeAttempts,
  expireLeases,
  recordLateOutcome,
  sweepLateOutcomes,
} from './index.js'
import {
  ACCEPTED,
  closeOf,
  DOUBTFUL,
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

/** Leases one entry, lets the lease run out and be rescued with `decision`; the zombie's own view is returned. */
async function leaseAndLose(decision: Decision) {
  await outbox.addEntries(1)
  const zombie = await outbox.leaseOne({ worker: 'zombie' })
  await outbox.expire(zombie.id)
  expect((await expireLeases(outbox.database, { limit: 10, decide: () => decision })).expired).toBe(1)
  return zombie
}

const RETRY = retryIn(60_000, 'uncertain_with_key')

describe('a late outcome', () => {
  it('of a zombie is refused by the close and then taken as the definite answer of a held entry (I5)', async () => {
    const zombie = await leaseAndLose(HOLD)
    expect(await outbox.entry(zombie.id)).toMatchObject({ state: 'uncertain', reason: 'no_key' })
    expect(await closeAttempts(outbox.database, [closeOf(zombie)])).toEqual([{ kind: 'lease_lost' }])
    expect(await recordLateOutcome(outbox.database, closeOf(zombie))).toBe('applied')
    expect(await outbox.entry(zombie.id)).toMatchObject({ state: 'delivered', reason: null, uncertain_since: null })
    // The rescuer's record stays as it was written.
    expect(await outbox.attempts(zombie.id)).toMatchObject([{ outcome: 'uncertain', cause: 'worker_lost' }])
  })

  it('ends an entry that was due for its next try, which is then never made', async () => {
    const zombie = await leaseAndLose(RETRY)
    expect(await recordLateOutcome(outbox.database, closeOf(zombie))).toBe('applied')
    expect(await outbox.due(zombie.id)).toEqual([])
    expect(await outbox.entry(zombie.id)).toMatchObject({ state: 'delivered', attempts: 1, tries: 1 })
  })

  it('waits for the close of a lease that is running, and is announced by it', async () => {
    const zombie = await leaseAndLose(retryIn(0, 'uncertain_with_key'))
    const owner = await outbox.leaseOne({ worker: 'owner' })
    expect(await recordLateOutcome(outbox.database, closeOf(zombie))).toBe('kept')
    expect((await outbox.entry(zombie.id)).state).toBe('pending')

    const closed = await closeAttempts(outbox.database, [closeOf(owner, DOUBTFUL, RETRY)])
    expect(closed).toEqual([{ kind: 'recorded', hasLateOutcome: true }])
    expect(await applyLateOutcomes(outbox.database, zombie.id)).toBe('applied')
    expect((await outbox.entry(zombie.id)).state).toBe('delivered')
  })

  it('changes nothing when the running lease delivered by itself', async () => {
    const zombie = await leaseAndLose(retryIn(0, 'uncertain_with_key'))
    const owner = await outbox.leaseOne()
    await recordLateOutcome(outbox.database, closeOf(zombie, REFUSED))
    await closeAttempts(outbox.database, [closeOf(owner)])
    expect(await applyLateOutcomes(outbox.database, zombie.id)).toBe('kept')
    expect((await outbox.entry(zombie.id)).state).toBe('delivered')
  })

  it('that says nothing was sent returns a held entry to due, without doubt', async () => {
    const zombie = await leaseAndLose(HOLD)
    expect(await recordLateOutcome(outbox.database, closeOf(zombie, UNREACHABLE))).toBe('applied')
    expect(await outbox.entry(zombie.id)).toMatchObject({ state: 'pending', reason: null })
    expect(await outbox.due(zombie.id)).toMatchObject([{ attempts: 1, uncertain_since: null }])
  })

  it('that says nothing was sent clears the doubt of a due entry', async () => {
    const zombie = await leaseAndLose(RETRY)
    expect(only(await outbox.due(zombie.id)).uncertain_since).not.toBeNull()
    expect(await recordLateOutcome(outbox.database, closeOf(zombie, UNREACHABLE))).toBe('applied')
    expect(only(await outbox.due(zombie.id)).uncertain_since).toBeNull()
  })

  it('of "no" ends the entry only when it was the only one in doubt (I6)', async () => {
    const alone = await leaseAndLose(HOLD)
    expect(await recordLateOutcome(outbox.database, closeOf(alone, REFUSED))).toBe('applied')
    expect(await outbox.entry(alone.id)).toMatchObject({ state: 'dead_lettered', reason: 'rejected' })

    const zombie = await leaseAndLose(retryIn(0, 'uncertain_with_key'))
    const owner = await outbox.leaseOne()
    await closeAttempts(outbox.database, [closeOf(owner, DOUBTFUL, HOLD)])
    expect(await recordLateOutcome(outbox.database, closeOf(zombie, REFUSED))).toBe('kept')
    expect((await outbox.entry(zombie.id)).state).toBe('uncertain')
  })

  it('is no answer when it is itself uncertain', async () => {
    const zombie = await leaseAndLose(HOLD)
    expect(await recordLateOutcome(outbox.database, closeOf(zombie, DOUBTFUL))).toBe('kept')
    expect((await outbox.entry(zombie.id)).state).toBe('uncertain')
  })

  it('never reopens what a person settled', async () => {
    const zombie = await leaseAndLose(HOLD)
    await outbox.rows("UPDATE counterfoil.entry SET state = 'settled', reason = 'not_delivered' WHERE id = $1", [
      zombie.id,
    ])
    expect(await recordLateOutcome(outbox.database, closeOf(zombie))).toBe('kept')
    expect((await outbox.entry(zombie.id)).state).toBe('settled')
    expect(await outbox.rows('SELECT outcome FROM counterfoil.late_outcome')).toEqual([{ outcome: 'accepted' }])
  })

  it('is kept once however often it is handed in, hostile text included', async () => {
    const zombie = await leaseAndLose(HOLD)
    const close = closeOf(zombie, DOUBTFUL, HOLD, { detail: '\0\ud800 gone' })
    for (let time = 0; time < 3; time += 1) await recordLateOutcome(outbox.database, close)
    expect(await outbox.rows('SELECT detail FROM counterfoil.late_outcome')).toHaveLength(1)
  })

  it('is applied by the sweep when its worker died before it could', async () => {
    const zombie = await leaseAndLose(HOLD)
    await outbox.rows(
      `INSERT INTO counterfoil.late_outcome (entry, number, token, worker, outcome, status)
       VALUES ($1, 1, $2, 'zombie', 'accepted', 200)`,
      [zombie.id, zombie.lease.token],
    )
    expect(await sweepLateOutcomes(outbox.database, { limit: 1 })).toEqual({ applied: 1 })
    expect((await outbox.entry(zombie.id)).state).toBe('delivered')
    expect(await sweepLateOutcomes(outbox.database, { limit: 1 })).toEqual({ applied: 0 })
  })

  it('ends as delivered whatever else happens to the entry at the same moment', async () => {
    const outcomes: AttemptOutcome[] = [DOUBTFUL, ACCEPTED, workerLost()]
    for (let round = 0; round < 30; round += 1) {
      const zombie = await leaseAndLose(retryIn(0, 'uncertain_with_key'))
      const outcome = outcomes[round % 3] ?? DOUBTFUL
      const late = recordLateOutcome(outbox.database, closeOf(zombie))
      const owned = await outbox.lease(1)
      const decision: Decision =
        outcome.kind === 'accepted' ? { kind: 'finish', as: 'delivered', repeat: false } : RETRY
      const closed = await closeAttempts(
        outbox.database,
        owned.map((one) => closeOf(one, outcome, decision)),
      )
      await late
      for (const result of closed) {
        if (result.kind === 'recorded' && result.hasLateOutcome) await applyLateOutcomes(outbox.database, zombie.id)
      }
      expect((await outbox.entry(zombie.id)).state).toBe('delivered')
    }
  })
})
