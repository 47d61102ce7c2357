import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  checkPlacement,
  closeAttempts,
  ensureDestinations,
  findOpenDestinations,
  pauseDestination,
  readDestinationStates,
} from './index.js'
import { closeOf, type Outbox, only, openOutbox } from './outbox.int-setup.js'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

describe('flow control', () => {
  it('has a row for every configured destination and keeps what was there', async () => {
    await pauseDestination(outbox.database, 'crm', { reason: 'operator', forMs: null, detail: 'a\0b' })
    await Promise.all(Array.from({ length: 5 }, () => ensureDestinations(outbox.database, ['mail', 'crm', 'mail'])))
    expect(await readDestinationStates(outbox.database)).toMatchObject([
      { destination: 'crm', paused: { reason: 'operator', until: null, detail: 'a b' } },
      { destination: 'mail', paused: null },
    ])
  })
})

describe('findOpenDestinations', () => {
  it('names those with entries that are due or being sent', async () => {
    expect(await findOpenDestinations(outbox.database)).toEqual([])
    await outbox.addEntries(3, { destination: 'b' })
    await outbox.addEntries(1, { destination: 'a', dueInMs: 60_000 })
    await outbox.addEntries(1, { destination: 'c' })
    const leased = only(await outbox.lease(5, { destination: 'c' }))
    expect(await findOpenDestinations(outbox.database)).toEqual(['a', 'b', 'c'])
    await closeAttempts(outbox.database, [closeOf(leased)])
    expect(await findOpenDestinations(outbox.database)).toEqual(['a', 'b'])
  })
})

describe('checkPlacement', () => {
  it('finds every entry that is nowhere, in two places, or final and still queued (I12)', async () => {
    const [nowhere, both, done, gone, fine] = await outbox.addEntries(5)
    expect(await checkPlacement(outbox.database)).toEqual([])
    await outbox.rows('DELETE FROM counterfoil.due WHERE entry = $1', [nowhere])
    await outbox.rows(
      `INSERT INTO counterfoil.lease (entry, destination, token, worker, attempt, tries, opened_at, expires_at,
                                      first_sent_at, first_send)
       VALUES ($1, 'crm', gen_random_uuid(), 'w', 1, 0, now(), now() + interval '1 minute', now(), true)`,
      [both],
    )
    await outbox.rows(
      "UPDATE counterfoil.entry SET state = 'cancelled', reason = 'test', closed_at = now() WHERE id = $1",
      [done],
    )
    await outbox.rows('UPDATE counterfoil.due SET entry = gen_random_uuid() WHERE entry = $1', [gone])
    const problems = await checkPlacement(outbox.database)
    const kindOf = (id: string | undefined) => problems.filter(({ entryId }) => entryId === id).map(({ kind }) => kind)
    expect(kindOf(nowhere)).toEqual(['nowhere'])
    expect(kindOf(both)).toEqual(['due_and_leased'])
    expect(kindOf(done)).toEqual(['final_but_due'])
    expect(kindOf(gone)).toEqual(['nowhere'])
    expect(kindOf(fine)).toEqual([])
    expect(problems.filter(({ kind }) => kind === 'unknown_entry')).toHaveLength(1)
  })
})
