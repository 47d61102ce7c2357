/** Width of a slot, ms: wake-ups that fall into one share a timer, so that thousands of retries need few. */
const SLOT_MS = 50
/** Most timers at once; the poll finds what has none. */
const MAX_TIMERS = 128

export type WakeTimer = {
  /** Calls back not before `delayMs` and at most one slot later. */
  wakeIn(delayMs: number): void
  clear(): void
}

/** Remembers when this process's own retries fall due, so that a retry in 5 s is not late by a poll. */
export function createWakeTimer(onDue: () => void, now: () => number): WakeTimer {
  const timers = new Map<number, NodeJS.Timeout>()
  return {
    wakeIn: (delayMs) => {
      const slot = Math.ceil((now() + delayMs) / SLOT_MS)
      if (timers.has(slot) || timers.size >= MAX_TIMERS) return
      const fire = () => {
        timers.delete(slot)
        onDue()
      }
      timers.set(slot, setTimeout(fire, slot * SLOT_MS - now()))
    },
    clear: () => {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
