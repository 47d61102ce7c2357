import type pg from 'pg'

/** How a doubt ends: the one place where a finding moves an entry. The caller holds its lock and knows that it is held. */
export type HeldEnd =
  | { readonly kind: 'delivered'; readonly reason: 'took_effect' }
  | { readonly kind: 'dead_lettered'; readonly reason: 'did_not' }
  /** Due again without doubt: same key, same bytes, attempt numbers go on. */
  | { readonly kind: 'returned' }

const END = `
UPDATE counterfoil.entry SET state = $2, reason = $3, uncertain_since = NULL, closed_at = clock_timestamp()
 WHERE id = $1 AND state = 'uncertain'`

const RETURN = `
WITH returned AS (
  UPDATE counterfoil.entry SET state = 'pending', reason = NULL, uncertain_since = NULL, closed_at = NULL
   WHERE id = $1 AND state = 'uncertain' RETURNING *
)
INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries, first_sent_at)
SELECT id, destination, clock_timestamp(), attempts, tries, first_sent_at FROM returned`

/** Throws when the entry is not held: its lock was not taken, or not looked at. */
export async function endHeldEntry(client: pg.ClientBase, entryId: string, end: HeldEnd): Promise<void> {
  const { rowCount } =
    end.kind === 'returned'
      ? await client.query(RETURN, [entryId])
      : await client.query(END, [entryId, end.kind, end.reason])
  if (rowCount !== 1) throw new Error(`entry ${entryId} was not held any more`)
}
