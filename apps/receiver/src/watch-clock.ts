import { type Database, readDatabaseClock } from '@counterfoil/db'
import type { Logger } from 'pino'
import { type ClockOffset, type ClockReading, createClockOffset } from './clock-offset.js'
import { describeError } from './describe-error.js'

const CLOCK_EVERY_MS = 10_000

/** The clock of this process against that of the database, telling the log when it goes out of tolerance and back. */
export function watchClock(database: Database, toleranceMs: number, log: Logger): ClockOffset {
  let last: ClockReading['kind'] = 'known'
  return createClockOffset({
    readDatabaseClock: () => readDatabaseClock(database),
    toleranceMs,
    everyMs: CLOCK_EVERY_MS,
    wallNow: Date.now,
    monotonicNow: () => performance.now(),
    onMeasured: (reading) => {
      if (reading.kind !== last && reading.kind !== 'unknown') {
        const line = { offsetMs: Math.round(reading.offsetMs), toleranceMs }
        if (reading.kind === 'off') log.error(line, 'clock.off')
        else log.info(line, 'clock.in_time_again')
      }
      last = reading.kind
    },
    onFailed: (error) => log.warn(describeError(error), 'clock.not_measured'),
  })
}
