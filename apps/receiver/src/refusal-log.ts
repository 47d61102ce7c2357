import type { Logger } from 'pino'

/** Lines for whatever was not taken for a delivery: a stranger can send any number of them, so their number a second is bounded. */
export type RefusalLog = {
  readonly write: (line: Readonly<Record<string, unknown>>, message: string, level?: 'info' | 'warn' | 'error') => void
  /** Tells what is still suppressed, and stops. */
  readonly close: () => void
}

const WINDOW_MS = 1000

/**
 * At most `linesPerSecond` lines a second; what is left out is counted and told once, when its second is over.
 * The timer runs only while there is something to tell.
 */
export function createRefusalLog(options: {
  readonly log: Logger
  readonly linesPerSecond: number
  readonly now: () => number
}): RefusalLog {
  let windowStart = Number.NEGATIVE_INFINITY
  let written = 0
  let suppressed = 0
  let timer: NodeJS.Timeout | null = null

  const tell = (): void => {
    timer = null
    if (suppressed === 0) return
    options.log.warn({ suppressed, linesPerSecond: options.linesPerSecond }, 'push.refusals_suppressed')
    suppressed = 0
  }

  return {
    write: (line, message, level = 'warn') => {
      const now = options.now()
      if (now - windowStart >= WINDOW_MS) {
        windowStart = now
        written = 0
      }
      if (written < options.linesPerSecond) {
        written += 1
        options.log[level](line, message)
        return
      }
      suppressed += 1
      timer ??= setTimeout(tell, WINDOW_MS).unref()
    },
    close: () => {
      if (timer !== null) clearTimeout(timer)
      tell()
    },
  }
}
