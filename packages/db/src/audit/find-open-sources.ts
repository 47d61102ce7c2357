import type { Database } from '../connection/database.js'

/** Why a source, or a route of it, is still needed. */
export type OpenSource =
  /** Deliveries of this type wait for their time: their route plans them again then. */
  | { readonly kind: 'deferred'; readonly source: string; readonly eventType: string | null }
  /** A person has yet to release or discard some. */
  | { readonly kind: 'quarantined'; readonly source: string }
  /** Entries that it asked for are still to be sent. */
  | { readonly kind: 'entries'; readonly source: string }

/** Most rows of each kind that are looked at: a start must not wait for a backlog to be read. */
const LOOK_AT = 20_000

const FIND_OPEN_SOURCES = `
SELECT DISTINCT 'deferred' AS kind, d.source, d.event_type
FROM (SELECT delivery FROM counterfoil.deferred ORDER BY due_at LIMIT ${LOOK_AT}) w
JOIN counterfoil.delivery d ON d.id = w.delivery
UNION ALL
SELECT DISTINCT 'quarantined', q.source, NULL
FROM (SELECT id, source FROM counterfoil.delivery WHERE disposition = 'quarantined' LIMIT ${LOOK_AT}) q
WHERE NOT EXISTS (SELECT FROM counterfoil.act a WHERE a.delivery = q.id AND a.action IN ('release', 'discard'))
UNION ALL
SELECT DISTINCT 'entries', d.source, NULL
FROM ((SELECT entry FROM counterfoil.due LIMIT ${LOOK_AT}) UNION ALL (SELECT entry FROM counterfoil.lease LIMIT ${LOOK_AT})) o
JOIN counterfoil.entry e ON e.id = o.entry
JOIN counterfoil.delivery d ON d.id = e.delivery
ORDER BY 1, 2, 3`

type Row = { kind: OpenSource['kind']; source: string; event_type: string | null }

/** What of the configured sources is still needed by work that is ours already (I12). */
export async function findOpenSources(database: Database): Promise<readonly OpenSource[]> {
  const { rows } = await database.pool.query<Row>(FIND_OPEN_SOURCES)
  return rows.map(({ kind, source, event_type: eventType }) =>
    kind === 'deferred' ? { kind, source, eventType } : { kind, source },
  )
}
