import { setTimeout as sleep } from 'node:timers/promises'

export type UntilOptions = {
  /** Default 10,000. */
  readonly timeoutMs?: number
  /** Pause between two checks, default 20. */
  readonly everyMs?: number
  /** Named in the error, e.g. `the entry to be delivered`. */
  readonly what?: string
}

/**
 * Calls `check` until it returns something truthy, and returns that.
 *
 * A check that throws counts as "not yet"; its last error becomes the cause when the time is up.
 */
export async function until<T>(check: () => T | Promise<T>, options: UntilOptions = {}): Promise<NonNullable<T>> {
  const timeoutMs = options.timeoutMs ?? 10_000
  const endsAt = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const value = await check()
      if (value) return value
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() >= endsAt) {
      throw new Error(`Waited ${timeoutMs} ms in vain for ${options.what ?? check.toString()}`, { cause })
    }
    await sleep(options.everyMs ?? 20)
  }
}
