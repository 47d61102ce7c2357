/** "attempt 1", "attempts 1 and 3", "attempts 1, 2 and 4"; `null` for none. */
export function listAttempts(attempts: readonly { readonly number: number }[]): string | null {
  const numbers = attempts.map((attempt) => String(attempt.number))
  const last = numbers.pop()
  if (last === undefined) return null
  return numbers.length === 0 ? `attempt ${last}` : `attempts ${numbers.join(', ')} and ${last}`
}
