/** The room that one admitted push takes until its answer was handed over. */
export type Seat = {
  /** Counts bytes that this push now holds; false when there is no room for them. */
  readonly hold: (bytes: number) => boolean
  readonly leave: () => void
}

/** Bounds what is between headers and answer, in pushes and in bytes, so that overload costs a 503 and not memory (I11). */
export type IntakeBudget = {
  /** `null`: no room. `announcedBytes` is the Content-Length, 0 when there is none; it is checked, not yet held. */
  readonly enter: (announcedBytes: number) => Seat | null
  readonly depth: () => { readonly pushes: number; readonly bytes: number }
  /** Resolves when nobody sits any more. */
  readonly whenEmpty: () => Promise<void>
}

/**
 * Bytes are counted as they arrive, not as they are announced: a stranger who announces much and sends nothing must
 * not lock out the others.
 */
export function createIntakeBudget(limits: { readonly maxPushes: number; readonly maxBytes: number }): IntakeBudget {
  let pushes = 0
  let bytes = 0
  let waiting: (() => void)[] = []

  const takeSeat = (): Seat => {
    let held = 0
    let seated = true
    pushes += 1
    return {
      hold: (count) => {
        if (bytes + count > limits.maxBytes) return false
        held += count
        bytes += count
        return true
      },
      leave: () => {
        if (!seated) return
        seated = false
        pushes -= 1
        bytes -= held
        if (pushes === 0 && waiting.length > 0) {
          const resolvers = waiting
          waiting = []
          for (const resolve of resolvers) resolve()
        }
      },
    }
  }

  return {
    enter: (announcedBytes) =>
      pushes >= limits.maxPushes || bytes + announcedBytes > limits.maxBytes ? null : takeSeat(),
    depth: () => ({ pushes, bytes }),
    whenEmpty: () => (pushes === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
