import type { ClockReading } from './clock-offset.js'
import type { HealthCheck } from './health.js'

const PING_TTL_MS = 2000
const PING_LIMIT_MS = 500

export type ReadinessOptions = {
  /** Problems of the database, in sentences; may take as long as it likes. */
  readonly checkDatabase: () => Promise<readonly string[]>
  readonly readClock: () => ClockReading
  readonly isDraining: () => boolean
  readonly monotonicNow: () => number
}

/**
 * Ready: the database answers and its schema fits, the clock is known and near, and nobody stops us. The database is
 * asked at most every 2 s and for at most 500 ms, so that probes are never what loads or blocks it.
 */
export function createReadiness(options: ReadinessOptions): () => Promise<readonly HealthCheck[]> {
  let database: HealthCheck = { name: 'database', ok: false, detail: 'not asked yet' }
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  const ask = async (): Promise<void> => {
    const problems = await options.checkDatabase()
    database = { name: 'database', ok: problems.length === 0, detail: problems.join(' ') || 'fit' }
    askedAt = options.monotonicNow()
  }
  const askWithin = async (): Promise<HealthCheck> => {
    if (options.monotonicNow() - askedAt < PING_TTL_MS) return database
    asking ??= ask().finally(() => {
      asking = null
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), PING_LIMIT_MS)
    })
    const outcome = await Promise.race([asking, late])
    clearTimeout(timer)
    return outcome === 'late'
      ? { name: 'database', ok: false, detail: `no answer within ${PING_LIMIT_MS} ms` }
      : database
  }

  return async () => [
    { name: 'lifecycle', ok: !options.isDraining(), detail: options.isDraining() ? 'draining' : 'serving' },
    checkClock(options.readClock()),
    await askWithin(),
  ]
}

function checkClock(clock: ClockReading): HealthCheck {
  if (clock.kind === 'unknown')
    return { name: 'clock', ok: false, detail: 'offset to the database clock not known yet' }
  const offset = `${Math.round(clock.offsetMs)} ms off the database clock`
  return clock.kind === 'known'
    ? { name: 'clock', ok: true, detail: offset }
    : { name: 'clock', ok: false, detail: `${offset}, which is beyond the tolerance: check time synchronisation` }
}
