import { type Demo, openDemo, scenesOf } from '@counterfoil/cli/demo'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Real processes, a real database, and peers that write down for themselves what they saw.
describe('Logistics holds', () => {
  let demo: Demo

  beforeAll(async () => {
    demo = await openDemo()
  }, 120_000)

  afterAll(() => demo.close())

  for (const scene of scenesOf('logistics-holds')) {
    it(scene.tells, async () => {
      const result = await demo.play(scene)
      expect(result.broken).toBeNull()
      expect(result.findings.filter((finding) => !finding.ok)).toEqual([])
      expect(result.verdict.kind).toBe(scene.verdict)
    })
  }
})
