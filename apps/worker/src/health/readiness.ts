/** The database is asked at most this often, ms: probes must never be what loads it. */
const CACHE_MS = 2_000
const LIMIT_MS = 500

/** Asks `check` with a limit and keeps the answer for a while. Never rejects. */
export function createReadiness(options: {
  readonly isStopping: () => boolean
  readonly check: () => Promise<readonly string[]>
  readonly now: () => number
}): () => Promise<readonly string[]> {
  let known: readonly string[] = ['The database has not been asked yet.']
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    known = await options.check()
    askedAt = options.now()
  }

  return async () => {
    if (options.isStopping()) return ['The worker is stopping.']
    if (options.now() - askedAt < CACHE_MS) return known
    asking ??= ask().finally(() => {
      asking = null
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), LIMIT_MS)
    })
    const first = await Promise.race([asking, late])
    clearTimeout(timer)
    return first === 'late' ? [`The database gave no answer within ${LIMIT_MS} ms.`] : known
  }
}
