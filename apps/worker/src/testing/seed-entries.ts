import pg from 'pg'

/** Writes entries that are due now, as a committed claim leaves them, under the keys `<prefix>-1` … `<prefix>-<count>`. */
export async function seedEntries(url: string, destination: string, count: number, prefix = 'key'): Promise<void> {
  await query(
    url,
    `WITH entry AS (
       INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
       SELECT gen_random_uuid(), gen_random_uuid(), $1, $3 || '-' || n, body, sha256(body), 'application/json'
         FROM generate_series(1, $2::int) AS n, LATERAL (SELECT convert_to('{"n":' || n || '}', 'UTF8') AS body) AS b
       RETURNING id, destination)
     INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
     SELECT id, destination, clock_timestamp(), 0, 0 FROM entry`,
    [destination, count, prefix],
  )
}

export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** How many entries are in each state, e.g. `{ delivered: 3 }`. */
export async function countStates(url: string): Promise<Record<string, number>> {
  const rows = await query<{ state: string; n: number }>(
    url,
    'SELECT state, count(*)::int AS n FROM counterfoil.entry GROUP BY 1',
  )
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}

export type AttemptRow = {
  readonly number: number
  readonly worker: string
  readonly outcome: string
  readonly status: number | null
  readonly cause: string | null
  readonly decision: string
  readonly key_sent: string | null
  readonly digest_sent: string | null
}

/** Every attempt of the entry under this key, in order. */
export function readAttempts(url: string, key: string): Promise<AttemptRow[]> {
  return query<AttemptRow>(
    url,
    `SELECT number, worker, outcome, status, cause, decision, key_sent, encode(digest_sent, 'hex') AS digest_sent
       FROM counterfoil.attempt JOIN counterfoil.entry e ON e.id = entry
      WHERE e.idempotency_key = $1 ORDER BY number`,
    [key],
  )
}
