import type { Database } from '../connection/index.js'

export type DoubtFilter = {
  /** `null`: every one. */
  readonly entry: string | null
  /** `null`: every one. */
  readonly destination: string | null
  readonly overdueOnly: boolean
}

export type OpenDoubt = { readonly entry: string; readonly delivery: string; readonly destination: string }

const FIND_DOUBTS = `
SELECT r.entry, e.delivery, r.destination
  FROM counterfoil.reconciliation r JOIN counterfoil.entry e ON e.id = r.entry
 WHERE r.entry > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
   AND ($2::text IS NULL OR r.destination = $2)
   AND ($5::uuid IS NULL OR r.entry = $5)
   AND (NOT $3::boolean OR r.review_by <= clock_timestamp())
 ORDER BY r.entry LIMIT $4`

/** Open doubts by entry, oldest first since ids are time-ordered; `next` goes on after the last one, `null` at the end. */
export async function findDoubts(
  database: Database,
  filter: DoubtFilter,
  page: { readonly limit: number; readonly after: string | null },
): Promise<{ readonly doubts: readonly OpenDoubt[]; readonly next: string | null }> {
  const values = [page.after, filter.destination, filter.overdueOnly, page.limit + 1, filter.entry]
  const { rows } = await database.pool.query<OpenDoubt>(FIND_DOUBTS, values)
  const doubts = rows.slice(0, page.limit)
  return { doubts, next: rows.length > page.limit ? (doubts.at(-1)?.entry ?? null) : null }
}
