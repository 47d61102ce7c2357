import type { Database } from '../connection/index.js'
import { applyLateOutcomes } from './apply-late-outcomes.js'

/** By entry, from a cursor: outcomes that stay evidence for ever can't fill the page. */
const FIND_OPEN_LATE_OUTCOMES = `
SELECT DISTINCT l.entry
  FROM counterfoil.late_outcome l JOIN counterfoil.entry e ON e.id = l.entry
 WHERE l.entry > $1 AND l.outcome <> 'uncertain' AND e.state IN ('pending', 'uncertain')
 ORDER BY l.entry LIMIT $2`

const NO_ENTRY = '00000000-0000-0000-0000-000000000000'

/**
 * Backstop for late outcomes whose worker died before it could apply them.
 *
 * @returns how many entries they changed
 */
export async function sweepLateOutcomes(
  database: Database,
  { limit }: { readonly limit: number },
): Promise<{ readonly applied: number }> {
  let applied = 0
  for (let after: string | undefined = NO_ENTRY; after !== undefined; ) {
    const page: { entry: string }[] = (await database.pool.query(FIND_OPEN_LATE_OUTCOMES, [after, limit])).rows
    for (const { entry } of page) if ((await applyLateOutcomes(database, entry)) === 'applied') applied += 1
    after = page.length < limit ? undefined : page.at(-1)?.entry
  }
  return { applied }
}
