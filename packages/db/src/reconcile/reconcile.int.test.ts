import { decideFinding, type Finding, type Found, type ReconcileContract, stillUnknown } from '@counterfoil/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeAttempts, recordLateOutcome } from '../outbox/index.js'
import {
  ACCEPTED,
  closeOf,
  DOUBTFUL,
  FINISH,
  HOLD,
  type Outbox,
  only,
  openOutbox,
  REFUSED,
} from '../outbox/outbox.int-setup.js'
import {
  type AskedLookup,
  askDue,
  findDoubts,
  hasOpenDoubts,
  recordFinding,
  reviewDoubts,
  reviewStrangers,
} from './index.js'

let outbox: Outbox
beforeAll(async () => {
  outbox = await openOutbox()
})
afterAll(() => outbox.close())

const CONTRACT: ReconcileContract = {
  timeouts: { connectMs: 1, headersMs: 1, bodyMs: 1, totalMs: 0 },
  retry: { firstMs: 1, capMs: 1, maxAttempts: 5, maxAgeMs: 3_600_000, maxRetryAfterMs: 0 },
  reviewWindowMs: 3_600_000,
  lookup: {
    method: 'GET',
    target: '/',
    body: null,
    rules: [],
    graceMs: 0,
    firstMs: 60_000,
    capMs: 60_000,
    maxProbes: 3,
    concurrency: 2,
    didNot: 'resend',
  },
}

let names = 0
const newDestination = () => {
  names += 1
  return `reconcile-${names}`
}

/** An entry of this destination, held as uncertain after one attempt. */
async function hold(destination: string): Promise<string> {
  const id = only(await outbox.addEntries(1, { destination }))
  await holdAgain(destination)
  return id
}

async function holdAgain(destination: string): Promise<void> {
  await closeAttempts(outbox.database, [closeOf(only(await outbox.lease(1, { destination })), DOUBTFUL, HOLD)])
}

type AskOptions = Partial<Parameters<typeof askDue>[1]>

function ask(destination: string, change: AskOptions = {}): Promise<readonly AskedLookup[]> {
  const law = { limit: 10, concurrency: 10, quietMs: 0, leaseMs: 60_000, gapMs: 60_000, maxProbes: 3 }
  return askDue(outbox.database, { destination, worker: 'w1', ...law, ...change })
}

const found = (finding: Finding): Found => ({ ...stillUnknown(''), finding, cause: null, status: 200 })

const record = (asked: AskedLookup, one: Found) =>
  recordFinding(outbox.database, {
    asked,
    found: one,
    decide: (situation) => decideFinding(one, situation, CONTRACT, () => 0.5),
  })

const doubt = async (entry: string) =>
  (
    await outbox.rows<{ probes: number; next_at: Date | null; review_by: Date | null; leased: boolean }>(
      `SELECT probes, next_at, review_by, coalesce(leased_until > clock_timestamp(), false) AS leased
       FROM counterfoil.reconciliation WHERE entry = $1`,
      [entry],
    )
  )[0]

const stateOf = async (entry: string) => (await outbox.entry(entry)).state

describe('open doubts', () => {
  it('I12: each uncertain entry is one, from its hold to its end, whoever ends it', async () => {
    const destination = newDestination()
    const leased = only(await outbox.addEntries(1, { destination }).then(() => outbox.lease(1, { destination })))
    expect(await doubt(leased.id)).toBeUndefined()
    await closeAttempts(outbox.database, [closeOf(leased, DOUBTFUL, HOLD)])
    expect(await doubt(leased.id)).toMatchObject({ probes: 0, review_by: null, leased: false })
    await recordLateOutcome(outbox.database, closeOf(leased, ACCEPTED, FINISH))
    expect(await stateOf(leased.id)).toBe('delivered')
    expect(await doubt(leased.id)).toBeUndefined()
  })

  it('have a time from which they are overdue, by what the contract says when they are first seen', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    expect(await hasOpenDoubts(outbox.database)).toBe(true)
    expect(await reviewDoubts(outbox.database, { destination, reviewWindowMs: 3_600_000, maxProbes: 3 })).toBe(1)
    expect(await reviewDoubts(outbox.database, { destination, reviewWindowMs: 1, maxProbes: 3 })).toBe(0)
    const seen = await doubt(entry)
    expect(seen?.next_at).not.toBeNull()
    const filter = { entry: null, destination, overdueOnly: true }
    expect((await findDoubts(outbox.database, filter, { limit: 10, after: null })).doubts).toEqual([])
    await outbox.rows(`UPDATE counterfoil.reconciliation SET review_by = clock_timestamp() WHERE entry = $1`, [entry])
    expect((await findDoubts(outbox.database, filter, { limit: 10, after: null })).doubts).toMatchObject([{ entry }])
  })

  it('are overdue at once where nobody declared a window, and asked about by nobody without a lookup', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    await reviewDoubts(outbox.database, { destination, reviewWindowMs: null, maxProbes: 0 })
    const seen = await doubt(entry)
    expect(seen).toMatchObject({ next_at: null })
    expect(seen?.review_by?.getTime()).toBeLessThanOrEqual(Date.now() + 60_000)
    expect(await ask(destination)).toEqual([])
  })
})

describe('doubts of a destination that is no longer configured', () => {
  it('I12: are overdue after an hour, since nobody can ask about them', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    const rest = async () => {
      await reviewStrangers(outbox.database, ['crm'])
      return (await doubt(entry))?.review_by ?? null
    }
    expect(await rest()).toBeNull()
    await outbox.rows(`UPDATE counterfoil.reconciliation SET held_at = held_at - interval '2 hours' WHERE entry = $1`, [
      entry,
    ])
    expect(await rest()).not.toBeNull()
  })
})

describe('askDue', () => {
  it('I4: puts each question on record with who asks, and takes no doubt twice', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    const both = await Promise.all([ask(destination, { worker: 'w1' }), ask(destination, { worker: 'w2' })])
    const asked = only(both.flat())
    expect(asked).toMatchObject({ entry, number: 1, destination, values: { attempt: 1 } })
    expect(asked.values.firstAttemptAt).not.toBeNull()
    const rows = await outbox.rows('SELECT number, asked_by FROM counterfoil.lookup WHERE entry = $1', [entry])
    expect(rows).toEqual([{ number: 1, asked_by: both[0].length === 1 ? 'w1' : 'w2' }])
    expect(await doubt(entry)).toMatchObject({ probes: 1, leased: true })
  })

  it('never has more questions open than the contract allows, whoever asks', async () => {
    const destination = newDestination()
    for (let count = 0; count < 6; count += 1) await hold(destination)
    const open = await Promise.all(Array.from({ length: 5 }, () => ask(destination, { concurrency: 2 })))
    expect(open.flat()).toHaveLength(2)
  })

  it('asks nothing while what was sent may still be on its way', async () => {
    const destination = newDestination()
    await hold(destination)
    expect(await ask(destination, { quietMs: 60_000 })).toEqual([])
    expect(await ask(destination, { quietMs: 0 })).toHaveLength(1)
  })

  it('asks again when whoever asked is gone, up to the last question, then it is overdue', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    for (const number of [1, 2, 3]) {
      expect(only(await ask(destination)).number).toBe(number)
      await outbox.rows(
        `UPDATE counterfoil.reconciliation SET leased_until = clock_timestamp() - interval '1 second',
                next_at = clock_timestamp() - interval '1 second' WHERE entry = $1`,
        [entry],
      )
    }
    expect(await ask(destination)).toEqual([])
    await reviewDoubts(outbox.database, { destination, reviewWindowMs: 3_600_000, maxProbes: 3 })
    const seen = await doubt(entry)
    expect(seen).toMatchObject({ next_at: null, probes: 3 })
    expect(seen?.review_by?.getTime()).toBeLessThan(Date.now() + 60_000)
  })
})

describe('recordFinding', () => {
  it('I6: ends the doubt as delivered, and says by what', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    const asked = only(await ask(destination))
    expect(await record(asked, found('took_effect'))).toEqual({ effect: 'delivered', cause: null })
    expect(await outbox.entry(entry)).toMatchObject({
      state: 'delivered',
      reason: 'took_effect',
      uncertain_since: null,
    })
    expect(await doubt(entry)).toBeUndefined()
    expect(await record(asked, found('did_not')), 'recorded before').toEqual({ effect: 'delivered', cause: null })
  })

  it('I3: returns what did not take effect with its history, and a later doubt is a new one', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    expect(await record(only(await ask(destination)), found('did_not'))).toMatchObject({ effect: 'returned' })
    expect(only(await outbox.due(entry))).toMatchObject({ attempts: 1, tries: 1, uncertain_since: null })
    await holdAgain(destination)
    expect(await doubt(entry)).toMatchObject({ probes: 0 })
    expect(only(await ask(destination)).number).toBe(2)
  })

  it('goes on asking while it is unknown, and lets the lease go', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    const asked = only(await ask(destination))
    expect(await record(asked, stillUnknown('ECONNREFUSED', { detail: 'connect\nECONNREFUSED \0' }))).toEqual({
      effect: 'asked_again',
      cause: 'ECONNREFUSED',
    })
    const seen = await doubt(entry)
    expect(seen).toMatchObject({ probes: 1, leased: false })
    expect((seen?.next_at?.getTime() ?? 0) - Date.now()).toBeGreaterThan(30_000)
    const rows = await outbox.rows('SELECT detail FROM counterfoil.finding WHERE entry = $1', [entry])
    expect(rows).toEqual([{ detail: 'connect ECONNREFUSED' }])
  })

  it('I5: of two findings about one hold the first one counts, the other is kept', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    const first = only(await ask(destination, { leaseMs: 0, gapMs: 0 }))
    const second = only(await ask(destination))
    const effects = await Promise.all([record(first, found('took_effect')), record(second, found('did_not'))])
    const states = { delivered: 'delivered', returned: 'pending' } as const
    const winner = only(effects.filter(({ effect }) => effect !== 'kept'))
    expect(only(effects.filter(({ effect }) => effect === 'kept')).cause).toBe('moved_meanwhile')
    expect(await stateOf(entry)).toBe(states[winner.effect as keyof typeof states])
    expect(await outbox.rows('SELECT FROM counterfoil.finding WHERE entry = $1', [entry])).toHaveLength(2)
  })

  it('I5: a finding about an earlier hold moves nothing, even where the entry is held again', async () => {
    const destination = newDestination()
    const entry = await hold(destination)
    const stale = only(await ask(destination, { leaseMs: 0, gapMs: 0 }))
    expect(await record(only(await ask(destination)), found('did_not'))).toMatchObject({ effect: 'returned' })
    await holdAgain(destination)
    expect(await record(stale, found('did_not'))).toEqual({ effect: 'kept', cause: 'moved_meanwhile' })
    expect(await stateOf(entry)).toBe('uncertain')
  })

  it('I6: a late no that ends the doubt first wins over a finding', async () => {
    const destination = newDestination()
    await outbox.addEntries(1, { destination })
    const leased = only(await outbox.lease(1, { destination }))
    await closeAttempts(outbox.database, [closeOf(leased, DOUBTFUL, HOLD)])
    const asked = only(await ask(destination))
    await recordLateOutcome(outbox.database, closeOf(leased, REFUSED, FINISH))
    expect(await record(asked, found('took_effect'))).toMatchObject({ effect: 'kept' })
    expect(await stateOf(leased.id)).toBe('dead_lettered')
  })

  it('leaves questions and findings as evidence that nobody can change', async () => {
    for (const table of ['lookup', 'finding']) {
      await expect(outbox.rows(`DELETE FROM counterfoil.${table}`)).rejects.toThrow(/is evidence and append-only/)
      await expect(outbox.rows(`UPDATE counterfoil.${table} SET number = 9`)).rejects.toThrow(/append-only/)
    }
  })
})
