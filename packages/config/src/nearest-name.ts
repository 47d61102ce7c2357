import { distance } from 'fastest-levenshtein'

/** The known name that `given` was probably meant to be; `null` when none is near (more than a third is different). */
export function findNearestName(given: string, known: Iterable<string>): string | null {
  let nearest: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const name of known) {
    const steps = distance(given.toLowerCase(), name.toLowerCase())
    if (steps < least) {
      least = steps
      nearest = name
    }
  }
  return nearest !== null && least <= Math.max(2, Math.floor(nearest.length / 3)) ? nearest : null
}

/** ` (did you mean "x"?)`, or nothing. */
export function suggestName(given: string, known: Iterable<string>): string {
  const nearest = findNearestName(given, known)
  return nearest === null ? '' : ` (did you mean "${nearest}"?)`
}
