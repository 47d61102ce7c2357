import { setTimeout as sleep } from 'node:timers/promises'

/** Asks until there is an answer other than `null`, `undefined` and `false`. Throws `what` when time is up. */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | null | undefined | false>,
  timeoutMs = 45_000,
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const found = await probe()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() - startedAt > timeoutMs) throw new Error(`waited ${timeoutMs / 1000} s in vain: ${what}`)
    await sleep(40)
  }
}
