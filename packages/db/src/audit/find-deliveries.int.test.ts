import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeliveryFilter, findDeliveries, STANDINGS, type Standing } from './find-deliveries.js'
import {
  ACCEPTED,
  DEAD_LETTER,
  FINISH,
  FINISH_REPEAT,
  HOLD,
  openStory,
  REFUSED,
  REPEATED,
  RETRY,
  type Story,
  TIMED_OUT,
} from './story.int-setup.js'

let story: Story
const ids: Record<string, string> = {}
const NOW = Date.now()
const DAY_MS = 86_400_000

beforeAll(async () => {
  story = await openStory()
  const add = async (name: string, days: number, seed = {}) => {
    ids[name] = await story.addDelivery({ deliveryId: name, at: NOW - days * DAY_MS, ...seed })
    return ids[name]
  }
  await story.addEntry(await add('delivered', 1), 'crm')
  await story.attempt('crm', ACCEPTED, FINISH)
  await story.addEntry(await add('held', 2, { type: 'ticket.solved' }), 'mailer')
  await story.attempt('mailer', TIMED_OUT, HOLD, false)
  await story.addEntry(await add('doubtful', 3), 'carrier')
  await story.attempt('carrier', TIMED_OUT, RETRY)
  await story.addEntry(await add('dead', 4), 'ledger')
  await story.attempt('ledger', REFUSED, DEAD_LETTER)
  await story.addEntry(await add('pending', 5, { source: 'warehouse' }), 'depot')
  await story.addEntry(await add('repeated', 5.5), 'archive')
  await story.attempt('archive', REPEATED, FINISH_REPEAT)
  await add('quarantined', 6, { disposition: 'quarantined' })
  await add('ignored', 7, { disposition: 'ignored' })
  await story.pool.query('INSERT INTO counterfoil.deferred VALUES ($1, now())', [await add('deferred', 8)])
})
afterAll(() => story.end())

const NONE: DeliveryFilter = { source: null, type: null, destination: null, standing: null, since: null, until: null }

async function find(filter: Partial<DeliveryFilter>, limit = 50): Promise<readonly string[]> {
  const { deliveries } = await findDeliveries(story.database, { ...NONE, ...filter }, { limit, after: null })
  return deliveries.map((id) => Object.keys(ids).find((name) => ids[name] === id) ?? id)
}

describe('findDeliveries', () => {
  it('lists everything, newest first', async () => {
    expect(await find({})).toEqual([
      'delivered',
      'held',
      'doubtful',
      'dead',
      'pending',
      'repeated',
      'quarantined',
      'ignored',
      'deferred',
    ])
  })

  it.each<[Standing, readonly string[]]>([
    ['pending', ['doubtful', 'pending']],
    ['in_doubt', ['held', 'doubtful']],
    ['not_delivered', ['dead']],
    ['delivered_after_doubt', ['held']],
    ['repeated', ['repeated']],
    ['quarantined', ['quarantined']],
    ['ignored', ['ignored']],
    ['deferred', ['deferred']],
  ])('filters by standing %s', async (standing, names) => {
    expect(STANDINGS).toContain(standing)
    expect(await find({ standing })).toEqual(names)
  })

  it('filters by source, type, destination and time', async () => {
    expect(await find({ source: 'warehouse' })).toEqual(['pending'])
    expect(await find({ type: 'ticket.solved' })).toEqual(['held'])
    expect(await find({ destination: 'ledger' })).toEqual(['dead'])
    expect(await find({ since: NOW - 2 * DAY_MS })).toEqual(['delivered', 'held'])
    expect(await find({ until: NOW - 7 * DAY_MS })).toEqual(['deferred'])
  })

  it('pages by cursor without leaving out or repeating one', async () => {
    const seen: string[] = []
    let after: string | null = null
    do {
      const page = await findDeliveries(story.database, NONE, { limit: 3, after })
      seen.push(...page.deliveries)
      after = page.next
    } while (after !== null)
    expect(seen).toEqual(Object.values(ids))
  })

  it('looks at a bounded number of claims and says where it stopped', async () => {
    await story.pool.query(
      `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, disposition, claimed_at)
       SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'old', 'o-' || n, sha256('x'), 'act', 'epoch'
       FROM generate_series(1, 20500) n`,
    )
    const first = await findDeliveries(story.database, { ...NONE, source: 'nobody' }, { limit: 3, after: null })
    expect(first.deliveries).toEqual([])
    expect(first.next).not.toBeNull()
    const second = await findDeliveries(story.database, { ...NONE, source: 'nobody' }, { limit: 3, after: first.next })
    expect(second).toEqual({ deliveries: [], next: null })
  })
})
