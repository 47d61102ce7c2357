/**
 * Fragments that the statements of intake share. Every insert that a stranger may want to make too has its own ORDER BY:
 * sorting the arrays alone doesn't order the inserts. The sort also ends the phase before it, as it has to read all of it
 * first, so nobody waits for a claim while holding an entry (claim-races.int.test.ts holds a claim to see it).
 *
 * `(x IN (SELECT …)) IS TRUE` is a hashed lookup whatever the planner believes; as a join it became a nested loop over
 * the whole batch, since a generic plan expects ten rows of every array. LIMIT 1 keeps a look-up by key one by one: turned
 * around, it reads the whole table for each batch.
 */

/** Entries of `asked`, then `due` for those written, then links to those that stood in the way. */
export const ENTRY_PHASES = `
written AS (
  INSERT INTO counterfoil.entry
    (id, delivery, destination, idempotency_key, body, body_digest, content_type, ordering_key)
  SELECT id, delivery, destination, idempotency_key, body, body_digest, content_type, ordering_key
  FROM asked ORDER BY destination COLLATE "C", idempotency_key COLLATE "C", ord
  ON CONFLICT DO NOTHING
  RETURNING id, delivery, destination, idempotency_key, body_digest
),
queued AS (
  INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
  SELECT id, destination, clock_timestamp(), 0, 0 FROM written ORDER BY id
),
missing AS MATERIALIZED (
  SELECT * FROM asked WHERE (id IN (SELECT id FROM written)) IS NOT TRUE
),
standing AS MATERIALIZED (
  SELECT m.delivery, m.ord, s.id AS entry, s.delivery AS owner, s.body_digest <> m.body_digest AS body_differs
  FROM missing m CROSS JOIN LATERAL (
    SELECT w.id, w.delivery, w.body_digest FROM written w
    WHERE w.idempotency_key = m.idempotency_key AND w.destination = m.destination
    UNION ALL
    (SELECT e.id, e.delivery, e.body_digest FROM counterfoil.entry e
     WHERE e.idempotency_key = m.idempotency_key AND e.destination = m.destination LIMIT 1)
  ) s
),
linked AS (
  INSERT INTO counterfoil.entry_link (delivery, entry, body_differs)
  SELECT delivery, entry, bool_or(body_differs) FROM standing WHERE owner <> delivery
  GROUP BY delivery, entry ORDER BY delivery, entry
  ON CONFLICT DO NOTHING
)`

/**
 * Ordinals of entries that were not written, and the guard of the links: an entry that a concurrent transaction
 * committed after our snapshot is in the way but not visible, so the statement ends itself and runs again.
 */
export const ENTRY_RESULT = `
  ARRAY(SELECT ord::int FROM missing) AS unwritten,
  CASE WHEN EXISTS (SELECT FROM missing WHERE (ord IN (SELECT ord FROM standing)) IS NOT TRUE)
       THEN counterfoil.claim_again() END AS guarded`

/** Columns of `unnest` for entries, in the order of `encodeEntries`. */
export const ENTRY_COLUMNS =
  'id, delivery, destination, idempotency_key, body, body_digest, content_type, ordering_key, ord'

/** Placeholders for `encodeEntries`, from `$first` on. */
export function entryArrays(first: number): string {
  const types = ['uuid', 'uuid', 'text', 'text', 'bytea', 'bytea', 'text', 'text']
  return types.map((type, index) => `$${first + index}::${type}[]`).join(', ')
}
