import type pg from 'pg'

export type AttemptRow = {
  readonly number: number
  readonly worker: string
  readonly outcome: string
  readonly cause: string | null
  readonly key: string | null
  readonly repeat: boolean
  /** Of the entry, as it stands now. */
  readonly state: string
}

/** The attempts of the entry with this business key, in order. */
export async function readAttempts(pool: pg.Pool, key: string): Promise<readonly AttemptRow[]> {
  const { rows } = await pool.query<AttemptRow>(
    `SELECT a.number, a.worker, a.outcome, a.cause, a.key_sent AS key, a.repeat, e.state
     FROM counterfoil.entry e JOIN counterfoil.attempt a ON a.entry = e.id
     WHERE e.idempotency_key = $1 ORDER BY a.number`,
    [key],
  )
  return rows
}
