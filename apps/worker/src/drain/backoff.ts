/** Waits that double up to a cap, each cut to a random half at most, so that many waiters spread. */
export type Backoff = {
  readonly nextMs: () => number
  /** True after the first `nextMs` since the start or the last `reset`. */
  readonly isFirst: () => boolean
  readonly reset: () => void
}

export function createBackoff(options: {
  readonly firstMs: number
  readonly capMs: number
  readonly random: () => number
}): Backoff {
  let failures = 0
  return {
    nextMs: () => {
      const fullMs = Math.min(options.capMs, options.firstMs * 2 ** Math.min(failures, 20))
      failures += 1
      return Math.round(fullMs * (1 - options.random() / 2))
    },
    isFirst: () => failures === 1,
    reset: () => {
      failures = 0
    },
  }
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
