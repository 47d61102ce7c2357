import { describe, expect, it } from 'vitest'
import { EXITS, FINAL_PLACES, HAPPENINGS, PLACES, type Place } from './exits.js'

const AUTOMATIC = HAPPENINGS.filter((one) => /^(taken|turn|outcome|lease|late|found)/.test(one))

function reach(from: Place, by: readonly (typeof HAPPENINGS)[number][]): ReadonlySet<Place> {
  const reached = new Set<Place>([from])
  for (const place of reached) for (const one of by) for (const to of EXITS[one][place].to) reached.add(to)
  return reached
}

describe('the exits of an entry', () => {
  it.each(PLACES)('say of %s what follows, whatever happens (I12)', (place) => {
    for (const happening of HAPPENINGS) {
      const { to, stays, refused, never } = EXITS[happening][place]
      const said = to.length + [stays, refused, never].filter((text) => text !== null).length
      expect(said, happening).toBeGreaterThan(0)
      expect(never !== null && said > 1, happening).toBe(false)
      expect(new Set(to).size, happening).toBe(to.length)
      expect(to, happening).not.toContain(place)
    }
  })

  it.each(PLACES.filter((place) => !FINAL_PLACES.includes(place)))('lead from %s to an end (I12)', (place) => {
    expect([...reach(place, HAPPENINGS)].some((to) => FINAL_PLACES.includes(to))).toBe(true)
  })

  it('lead out of each place by a person alone, where no machine is there to move it', () => {
    for (const place of ['uncertain', 'dead_lettered', 'parked', 'waiting', 'due'] as const) {
      const acts = (['settle', 'skip', 'cancel', 'redrive'] as const).flatMap((act) => EXITS[act][place].to)
      expect(acts.length, place).toBeGreaterThan(0)
    }
  })

  it('never lead out of delivered, and out of another end only by a person', () => {
    for (const happening of HAPPENINGS) expect(EXITS[happening].delivered.to, happening).toEqual([])
    for (const happening of AUTOMATIC) for (const end of FINAL_PLACES) expect(EXITS[happening][end].to).toEqual([])
  })

  it('never turn a doubt into a refusal by anything but an answer, a finding or a person (I6)', () => {
    const ends = HAPPENINGS.filter((one) => EXITS[one].uncertain.to.length > 0)
    expect(ends).toEqual([
      'late_accepted',
      'late_rejected',
      'late_nothing_done',
      'found_took_effect',
      'found_did_not',
      'settle',
      'redrive',
    ])
  })
})
