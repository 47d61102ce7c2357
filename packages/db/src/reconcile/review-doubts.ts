import type { Database } from '../connection/index.js'

export type ReviewLaw = {
  readonly destination: string
  /** `null`: nobody declared one, so a doubt is overdue as soon as it is open. */
  readonly reviewWindowMs: number | null
  /** Questions about one doubt; 0 where the destination can't be asked. */
  readonly maxProbes: number
}

/** $3 is 0 where nothing is asked. A question that its asker never answered counts as one that was asked. */
const REVIEW = `
UPDATE counterfoil.reconciliation r
   SET review_by = least(r.review_by, r.held_at + $2::float8 * interval '1 millisecond',
                         CASE WHEN $3 > 0 AND r.probes >= $3 THEN clock_timestamp() END),
       next_at = CASE WHEN r.probes < $3 THEN r.next_at END
 WHERE r.destination = $1
   AND (r.review_by IS NULL
        OR (r.next_at <= clock_timestamp() AND r.probes >= $3
            AND (r.leased_until IS NULL OR r.leased_until <= clock_timestamp())))`

const ANY_OPEN = 'SELECT EXISTS (SELECT FROM counterfoil.reconciliation) AS open'

/** Is any doubt open at all? One cheap look, so that a fleet without doubts asks for nothing else. */
export async function hasOpenDoubts(database: Database): Promise<boolean> {
  const { rows } = await database.pool.query<{ open: boolean }>(ANY_OPEN)
  return rows[0]?.open === true
}

/** Gives each open doubt of a destination the time from which it is overdue; nothing is asked once that is all there is. */
export async function reviewDoubts(database: Database, law: ReviewLaw): Promise<number> {
  const { rowCount } = await database.pool.query(REVIEW, [law.destination, law.reviewWindowMs ?? 0, law.maxProbes])
  return rowCount ?? 0
}

/** An hour: while a fleet is rolled out, an older worker doesn't know the newest destinations yet. */
const STRANGER_AFTER_MS = 3_600_000

const REVIEW_STRANGERS = `
UPDATE counterfoil.reconciliation SET review_by = held_at, next_at = NULL
 WHERE review_by IS NULL AND destination <> ALL ($1) AND held_at < clock_timestamp() - $2::float8 * interval '1 millisecond'`

/** Doubts of destinations that are no longer configured: nobody can ask about them, so they are a person's (I12). */
export async function reviewStrangers(database: Database, known: readonly string[]): Promise<number> {
  return (await database.pool.query(REVIEW_STRANGERS, [known, STRANGER_AFTER_MS])).rowCount ?? 0
}
