export type Coalescer = {
  /** At most one call of `add` in flight per name; what comes meanwhile shares the one that follows. */
  request(name: string): void
  stop(): void
}

/**
 * A thousand claims a second need not be a thousand wake-ups. The first goes at once; those that come while it is under
 * way, or within the gap, are one more. On the PostgreSQL back end every add costs a transaction, so the gap is real.
 */
export function createCoalescer(options: {
  readonly gapMs: number
  /** Must not reject. */
  readonly add: (name: string) => Promise<void>
}): Coalescer {
  const busy = new Map<string, { again: boolean }>()
  let isStopped = false

  async function run(name: string, state: { again: boolean }): Promise<void> {
    do {
      state.again = false
      await options.add(name)
      await new Promise((resolve) => setTimeout(resolve, options.gapMs))
    } while (state.again && !isStopped)
    busy.delete(name)
  }

  return {
    request: (name) => {
      if (isStopped) return
      const state = busy.get(name)
      if (state !== undefined) {
        state.again = true
        return
      }
      const fresh = { again: false }
      busy.set(name, fresh)
      void run(name, fresh)
    },
    stop: () => {
      isStopped = true
    },
  }
}
