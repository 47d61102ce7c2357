import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findSubjects } from './find-subjects.js'
import { openStory, type Story } from './story.int-setup.js'

let story: Story
beforeAll(async () => {
  story = await openStory()
})
afterAll(() => story.end())

const HOUR_MS = 3_600_000

describe('findSubjects', () => {
  it('finds a delivery by everything that it is known by, and says by what', async () => {
    const delivery = await story.addDelivery({
      deliveryId: 'd-81f',
      references: [{ name: 'ticket', value: 'ticket-1' }],
    })
    const entry = await story.addEntry(delivery, 'crm', 'ticket-1:reply:3')
    await story.pool.query(
      `INSERT INTO counterfoil.transition_outcome VALUES ($1, 1, 'expire-hold', 'A-12', 'applied', 'push', now())`,
      [delivery],
    )
    const found = async (query: string) =>
      (await findSubjects(story.database, query)).subjects.map((one) => one.kind === 'delivery' && one.matchedBy)
    expect(await found('ticket-1')).toEqual([['reference']])
    expect(await found('d-81f')).toEqual([['delivery_id']])
    expect(await found('ticket-1:reply:3')).toEqual([['idempotency_key']])
    expect(await found('A-12')).toEqual([['transition_subject']])
    expect(await found(delivery)).toEqual([['delivery']])
    expect(await found(delivery.toUpperCase())).toEqual([['delivery']])
    expect(await found(entry)).toEqual([['entry']])
  })

  it('finds every delivery that asked for the same action', async () => {
    const first = await story.addDelivery()
    const entry = await story.addEntry(first, 'crm', 'asked-twice')
    const second = await story.addDelivery()
    await story.pool.query('INSERT INTO counterfoil.entry_link VALUES ($1, $2, false)', [second, entry])
    const { subjects } = await findSubjects(story.database, 'asked-twice')
    expect(subjects.map((one) => one.kind === 'delivery' && one.deliveryUuid)).toEqual([second, first])
  })

  it('lists several, newest first, cut at the limit', async () => {
    const now = Date.now()
    for (const [index, age] of [3, 1, 2].entries()) {
      await story.addDelivery({
        deliveryId: `many-${index}`,
        at: now - age * HOUR_MS,
        references: [{ name: 'ticket', value: 'many' }],
      })
    }
    const all = await findSubjects(story.database, 'many')
    expect(all.subjects.map((one) => one.deliveryId)).toEqual(['many-1', 'many-2', 'many-0'])
    expect(all.cut).toBe(false)
    const cut = await findSubjects(story.database, 'many', { limit: 2 })
    expect(cut.subjects.map((one) => one.deliveryId)).toEqual(['many-1', 'many-2'])
    expect(cut.cut).toBe(true)
  })

  it('names an id that arrived signed but was never claimed, until it is', async () => {
    await story.pool.query(
      `INSERT INTO counterfoil.refused_observation (id, source, delivery_id, outcome, retry_after_ms, key_id, instance)
       VALUES (gen_random_uuid(), 'warehouse', 'j-1', 'not_due', 5000, 'k', 'r')`,
    )
    const { subjects } = await findSubjects(story.database, 'j-1')
    expect(subjects).toMatchObject([{ kind: 'never_claimed', source: 'warehouse', deliveryId: 'j-1' }])
    await story.addDelivery({ source: 'warehouse', deliveryId: 'j-1' })
    expect((await findSubjects(story.database, 'j-1')).subjects).toMatchObject([{ kind: 'delivery' }])
  })

  it('finds nothing, and never fails, for whatever somebody types', async () => {
    for (const query of [
      '',
      'nope',
      '%',
      "'; DROP TABLE counterfoil.entry; --",
      'a\0b',
      '\ud800',
      'x'.repeat(100_000),
    ]) {
      const { subjects, earliestKeptAt } = await findSubjects(story.database, query)
      expect(subjects).toEqual([])
      expect(earliestKeptAt).not.toBeNull()
    }
  })

  it('looks up by index only: no table is scanned', async () => {
    const statements: { text: string; values: unknown[] }[] = []
    const client = await story.pool.connect()
    try {
      const { FIND_DELIVERIES, FIND_NEVER_CLAIMED } = await import('./find-subjects.js')
      statements.push({ text: FIND_DELIVERIES, values: ['ticket-1', null, 21] })
      statements.push({ text: FIND_NEVER_CLAIMED, values: ['ticket-1', 21] })
      await client.query('BEGIN')
      // Small tables are cheaper to scan; with scans forbidden the plan shows whether an index exists for every branch.
      await client.query('SET LOCAL enable_seqscan = off')
      for (const statement of statements) {
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement.text}`, statement.values)
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        expect(plan).not.toMatch(/Seq Scan on (?!hit)/)
      }
      await client.query('ROLLBACK')
    } finally {
      client.release()
    }
  })
})
