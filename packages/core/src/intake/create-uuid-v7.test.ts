import { randomFillSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createUuidV7, createUuidV7Generator } from './create-uuid-v7.js'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

describe('createUuidV7', () => {
  test('the example of RFC 9562', () => {
    const random = Uint8Array.from([0x0c, 0xc3, 0x18, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f])
    expect(createUuidV7(0x017f22e279b0, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
  })

  test('has its form and time whatever the instant and the bytes', () => {
    fc.assert(
      fc.property(
        fc.nat(0xffffffff),
        fc.nat(0xffff),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (low, high, random) => {
          const id = createUuidV7(high * 2 ** 32 + low, random)
          expect(id).toMatch(UUID_V7)
          expect(timeOf(id)).toBe(high * 2 ** 32 + low)
        },
      ),
    )
  })
})

describe('createUuidV7Generator', () => {
  test('ids rise and are unique, within one millisecond and when the clock steps back', () => {
    const times = [1000, 1000, 1001, 900, 1002]
    let call = 0
    const newId = createUuidV7Generator({
      now: () => times[Math.floor(call++ / 5_000)] ?? 1002,
      fillRandom: (pool) => randomFillSync(pool),
    })
    const ids = Array.from({ length: 25_000 }, newId)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...ids].sort()).toEqual(ids)
    for (const id of ids) expect(id).toMatch(UUID_V7)
  })

  test('asks for random bytes once per 409 ids', () => {
    let fills = 0
    const countFill = () => {
      fills += 1
    }
    const newId = createUuidV7Generator({ now: () => 1, fillRandom: countFill })
    for (let made = 0; made < 818; made += 1) newId()
    expect(fills).toBe(2)
  })
})
