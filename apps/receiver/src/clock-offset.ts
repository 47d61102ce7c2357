/** What the receiver knows of the time by the database clock, which decides how old a push is. */
export type ClockReading =
  | { readonly kind: 'known'; readonly now: number; readonly offsetMs: number }
  /** This machine's clock is further off than tolerated: pushes are answered 503, never refused as stale. */
  | { readonly kind: 'off'; readonly now: number; readonly offsetMs: number }
  | { readonly kind: 'unknown' }

export type ClockOffset = {
  readonly read: () => ClockReading
  /** Measures once; the database is asked a few times and the quickest answer counts. Rejects when it can't be asked. */
  readonly measure: () => Promise<void>
  /** Measures now and every `everyMs`; a failed measurement keeps the last one. */
  readonly start: () => void
  readonly stop: () => void
}

const SAMPLES = 3

/**
 * Time is anchored to the database clock and carried on by the monotonic clock, so a step of this machine's wall clock
 * moves no verdict; it only shows as an offset, and beyond the tolerance the receiver goes unready until somebody has
 * put the clock right. A machine that slept shows the same way, and is put right by the next measurement.
 */
export function createClockOffset(options: {
  readonly readDatabaseClock: () => Promise<number>
  readonly toleranceMs: number
  readonly everyMs: number
  readonly wallNow: () => number
  readonly monotonicNow: () => number
  readonly onMeasured?: (reading: ClockReading) => void
  readonly onFailed?: (error: unknown) => void
}): ClockOffset {
  /** Database time minus monotonic time. */
  let anchor: number | null = null
  let timer: NodeJS.Timeout | null = null
  let stopped = false

  const read = (): ClockReading => {
    if (anchor === null) return { kind: 'unknown' }
    const now = options.monotonicNow() + anchor
    const offsetMs = now - options.wallNow()
    return { kind: Math.abs(offsetMs) > options.toleranceMs ? 'off' : 'known', now, offsetMs }
  }

  const measure = async (): Promise<void> => {
    let best: { readonly roundTripMs: number; readonly anchor: number } | null = null
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const asked = options.monotonicNow()
      const databaseNow = await options.readDatabaseClock()
      const roundTripMs = options.monotonicNow() - asked
      if (best === null || roundTripMs < best.roundTripMs) {
        best = { roundTripMs, anchor: databaseNow - asked - roundTripMs / 2 }
      }
    }
    if (best !== null) anchor = best.anchor
    options.onMeasured?.(read())
  }

  const tick = (): void => {
    measure()
      .catch((error: unknown) => options.onFailed?.(error))
      .finally(() => {
        if (!stopped) timer = setTimeout(tick, options.everyMs).unref()
      })
  }

  return {
    read,
    measure,
    start: tick,
    stop: () => {
      stopped = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}
