import { describe, expect, it } from 'vitest'
import { compareListing, foldListed } from './compare-listing.js'
import type { ListedDelivery } from './listed-delivery.js'
import { readGithubDelivery, readListedLine, readListedObject } from './read-listing.js'

const AT = Date.UTC(2026, 10, 29, 14, 0, 0)

describe('a list of deliveries', () => {
  it('is read line by line, with or without times', () => {
    expect(readListedLine('d-1')).toEqual({ id: 'd-1', at: null, believed: 'unknown' })
    expect(readListedLine(' d-1, 2026-11-29T14:00:00Z ')).toEqual({ id: 'd-1', at: AT, believed: 'unknown' })
    expect(readListedLine('d-1\t2026-11-29T14:00:00Z')).toMatchObject({ at: AT })
    expect(readListedLine('  ')).toBe('none')
    expect(readListedLine('# exported yesterday')).toBe('none')
    expect(readListedLine('d-1 yesterday')).toBe('unreadable')
    expect(readListedLine('d-1 2026-11-29T14:00:00Z more')).toBe('unreadable')
  })

  it('is read as JSON, where an id that was rounded is no id', () => {
    expect(readListedObject({ id: 7, at: '2026-11-29T14:00:00Z', status: 'failed' })).toEqual({
      id: '7',
      at: AT,
      believed: 'failed',
    })
    for (const value of [
      null,
      [],
      {},
      { id: '' },
      { id: 2 ** 53 },
      { id: 'a', status: 'lost' },
      { id: 'a', at: 'x' },
    ]) {
      expect(readListedObject(value)).toBe('unreadable')
    }
  })

  it("is read as GitHub's API gives it", () => {
    const listed = { id: 12, guid: 'g-1', delivered_at: '2026-11-29T14:00:00Z', redelivery: false, status_code: 502 }
    expect(readGithubDelivery(listed)).toEqual({ id: 'g-1', at: AT, believed: 'failed' })
    expect(readGithubDelivery({ ...listed, status_code: 204 })).toMatchObject({ believed: 'delivered' })
    expect(readGithubDelivery({ id: 12 })).toBe('unreadable')
  })
})

describe('foldListed', () => {
  it('takes all pushes of one delivery together: one that worked is enough, the first time counts', () => {
    const failed: ListedDelivery = { id: 'g-1', at: AT, believed: 'failed' }
    const worked: ListedDelivery = { id: 'g-1', at: AT + 60_000, believed: 'delivered' }
    for (const both of [
      [failed, worked],
      [worked, failed],
    ]) {
      const folded = both.reduce<ListedDelivery | undefined>(foldListed, undefined)
      expect(folded).toEqual({ id: 'g-1', at: AT, believed: 'delivered' })
    }
  })
})

describe('compareListing', () => {
  it('tells what never came, what came and was not claimed, and what only the sender takes for failed', () => {
    const listed = (['a', 'b', 'c', 'd'] as const).map(
      (id): ListedDelivery => ({ id, at: null, believed: id === 'c' ? 'failed' : 'delivered' }),
    )
    const here = new Map([
      ['b', { kind: 'never_claimed' } as const],
      ['c', { kind: 'claimed', claimedAt: AT } as const],
      ['d', { kind: 'claimed', claimedAt: AT } as const],
    ])
    expect(compareListing(listed, here)).toEqual({
      missing: [listed[0]],
      neverClaimed: [listed[1]],
      failedThere: [listed[2]],
      agreed: 1,
    })
  })
})
