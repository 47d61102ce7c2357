import { expect, it } from 'vitest'
import { FAMILY_CASES } from './family-cases.js'
import { BODY_SIZES, describeFamilies, measureFamilies } from './verify-families.js'

it('measures every family at every size, and shows them as a table', async () => {
  const figures = await measureFamilies(1, 1)
  expect(figures).toHaveLength(FAMILY_CASES.length * BODY_SIZES.length)
  expect(figures.every(({ pushesPerSecond }) => pushesPerSecond > 0)).toBe(true)
  expect(describeFamilies(figures).trimEnd().split('\n')).toHaveLength(FAMILY_CASES.length + 2)
})
