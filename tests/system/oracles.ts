import type { Sink, SinkRequest } from '@counterfoil/testkit'
import type pg from 'pg'

/**
 * What must hold once the system is quiet, whatever was done to it. Each oracle returns its violations in words, and
 * knows the truth from two sides: the tables here, and the ledger of the other side (the sink, the pusher).
 *
 * The SQL is written apart from the product's own on purpose: a mistake in one must not hide in the other.
 */
export type Evidence = {
  readonly pool: pg.Pool
  readonly sink: Sink
  /** Path of each destination at the sink. */
  readonly paths?: Readonly<Record<string, string>>
  /** Delivery ids that the pusher has a success answer for. */
  readonly acked?: Iterable<string>
}

const PATHS = { crm: '/crm', audit: '/audit', mailer: '/mailer' }

/** All of them, as one list. */
export async function findViolations(evidence: Evidence): Promise<readonly string[]> {
  const all = await Promise.all([
    findMisplaced(evidence.pool),
    findAttemptGaps(evidence.pool),
    findUnfoundedStates(evidence.pool),
    findChangedSends(evidence),
    findUnaccountedRequests(evidence),
    findMissingEffects(evidence),
    findObservationGaps(evidence.pool),
    findUnclaimedAcks(evidence),
  ])
  return all.flat()
}

async function list(pool: pg.Pool, label: string, sql: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ what: string }>(sql)
  return rows
    .slice(0, 5)
    .map(({ what }) => `${label}: ${what}${rows.length > 5 ? ` (and ${rows.length - 5} more)` : ''}`)
}

/** I12: a pending entry is due or leased, in exactly one of the two; any other entry is in neither. */
async function findMisplaced(pool: pg.Pool): Promise<readonly string[]> {
  return list(
    pool,
    'I12 misplaced',
    `SELECT e.id || ' ' || e.state || ' in ' || places AS what FROM (
       SELECT e.id, e.state, (SELECT count(*) FROM counterfoil.due d WHERE d.entry = e.id)
                           + (SELECT count(*) FROM counterfoil.lease l WHERE l.entry = e.id) AS places
       FROM counterfoil.entry e) e
     WHERE places <> CASE WHEN state = 'pending' THEN 1 ELSE 0 END
     UNION ALL
     SELECT 'orphan ' || entry FROM (SELECT entry FROM counterfoil.due UNION ALL SELECT entry FROM counterfoil.lease) p
     WHERE NOT EXISTS (SELECT FROM counterfoil.entry e WHERE e.id = p.entry)`,
  )
}

/** Attempts are numbered 1..n without gaps, and a closed entry knows its n. */
async function findAttemptGaps(pool: pg.Pool): Promise<readonly string[]> {
  return list(
    pool,
    'attempt numbers',
    `SELECT e.id || ': ' || count(a.*) || ' rows, ' || coalesce(min(a.number), 0) || '..' || coalesce(max(a.number), 0)
            || ', entry says ' || e.attempts AS what
     FROM counterfoil.entry e LEFT JOIN counterfoil.attempt a ON a.entry = e.id
     GROUP BY e.id
     HAVING count(a.*) <> coalesce(max(a.number), 0) OR (count(a.*) > 0 AND min(a.number) <> 1)
         OR (e.state <> 'pending' AND e.attempts <> count(a.*))`,
  )
}

/** Each final state has what it rests on: an accepted answer, a doubt that is still open, a definite no (I6). */
async function findUnfoundedStates(pool: pg.Pool): Promise<readonly string[]> {
  return list(
    pool,
    'I6 unfounded',
    `SELECT e.id || ' is ' || e.state AS what FROM counterfoil.entry e
     WHERE (e.state = 'delivered'
            AND NOT EXISTS (SELECT FROM counterfoil.attempt a WHERE a.entry = e.id AND a.outcome = 'accepted')
            AND NOT EXISTS (SELECT FROM counterfoil.late_outcome l WHERE l.entry = e.id AND l.outcome = 'accepted'))
        OR (e.state = 'uncertain' AND e.uncertain_since IS NULL)
        OR (e.state = 'uncertain'
            AND NOT EXISTS (SELECT FROM counterfoil.attempt a WHERE a.entry = e.id AND a.outcome = 'uncertain'))
        OR (e.state = 'settled' AND NOT EXISTS (SELECT FROM counterfoil.act t WHERE t.entry = e.id AND t.action = 'settle'))`,
  )
}

type EntryRow = { destination: string; key: string; digest: string; state: string }

async function readEntries(pool: pg.Pool): Promise<ReadonlyMap<string, EntryRow>> {
  const { rows } = await pool.query<EntryRow>(
    `SELECT destination, idempotency_key AS key, encode(body_digest, 'hex') AS digest, state FROM counterfoil.entry`,
  )
  return new Map(rows.map((row) => [`${row.destination} ${row.key}`, row]))
}

const destinationOf = ({ paths = PATHS }: Evidence, path: string): string =>
  Object.entries(paths).find(([, known]) => known === path)?.[0] ?? `(no destination at ${path})`

/** I3: what went over the wire bears the key and the very bytes of its entry, on every attempt. */
async function findChangedSends(evidence: Evidence): Promise<readonly string[]> {
  const recorded = await list(
    evidence.pool,
    'I3 recorded',
    `SELECT e.id || ' attempt ' || a.number AS what
     FROM counterfoil.attempt a JOIN counterfoil.entry e ON e.id = a.entry
     WHERE a.digest_sent <> e.body_digest OR (a.key_sent IS NOT NULL AND a.key_sent <> e.idempotency_key)`,
  )
  const entries = await readEntries(evidence.pool)
  const wire = (await evidence.sink.requests()).flatMap((request) => {
    if (request.key === null) return []
    const destination = destinationOf(evidence, request.path)
    const entry = entries.get(`${destination} ${request.key}`)
    if (entry === undefined) return [`I3 wire: ${destination} saw the key ${request.key} of no entry`]
    if (request.bodyDigest === null || request.bodyDigest === entry.digest) return []
    return [`I3 wire: ${destination} saw other bytes under the key ${request.key}`]
  })
  return [...recorded, ...wire]
}

type SendRow = { destination: string; digest: string; key: string; opened: number[] }

/** I4: each request at the sink is one attempt that was open before it came, or a lease that still is. */
async function findUnaccountedRequests(evidence: Evidence): Promise<readonly string[]> {
  const { rows } = await evidence.pool.query<SendRow>(
    `SELECT e.destination, e.idempotency_key AS key, encode(e.body_digest, 'hex') AS digest,
            array_agg((extract(epoch FROM s.opened_at) * 1000)::float8 ORDER BY s.opened_at) AS opened
     FROM counterfoil.entry e JOIN (
       SELECT entry, opened_at FROM counterfoil.attempt WHERE outcome <> 'not_sent'
       UNION ALL SELECT entry, opened_at FROM counterfoil.lease) s ON s.entry = e.id
     GROUP BY e.id`,
  )
  const byKey = new Map(rows.map((row) => [`${row.destination} ${row.key}`, row.opened]))
  // Where no key travels, the bytes tell which entry it was.
  const byDigest = new Map(rows.map((row) => [`${row.destination} ${row.digest}`, row.opened]))
  const arrivals = new Map<readonly number[] | undefined, SinkRequest[]>()
  for (const request of await evidence.sink.requests()) {
    // Neither key nor body was read: nothing says whose it was.
    if (request.key === null && request.bodyDigest === null) continue
    const destination = destinationOf(evidence, request.path)
    const opened =
      request.key === null
        ? byDigest.get(`${destination} ${request.bodyDigest}`)
        : byKey.get(`${destination} ${request.key}`)
    arrivals.set(opened, [...(arrivals.get(opened) ?? []), request])
  }
  return [...arrivals].flatMap(([opened, requests]) =>
    requests
      // By the time of the i-th request at least i attempts had been opened. Both clocks are this machine's.
      .filter((request, index) => (opened ?? []).filter((at) => at <= request.receivedAt + 1).length < index + 1)
      .map((request) => `I4 unaccounted: request ${request.number} to ${request.path} under the key ${request.key}`),
  )
}

/** What is called delivered had its effect; nothing had its effect twice where keys are honoured. */
async function findMissingEffects(evidence: Evidence): Promise<readonly string[]> {
  const effects = await evidence.sink.effects()
  const seen = new Map<string, number>()
  for (const { path, key } of effects) {
    if (key === null) continue
    const name = `${destinationOf(evidence, path)} ${key}`
    seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  const twice = [...seen].filter(([, times]) => times > 1).map(([name, times]) => `effect ${times} times: ${name}`)
  const keyless = new Set(['mailer'])
  const missing = [...(await readEntries(evidence.pool))]
    .filter(([name, { state, destination }]) => state === 'delivered' && !keyless.has(destination) && !seen.has(name))
    .map(([name]) => `delivered without an effect: ${name}`)
  return [...twice, ...missing.slice(0, 5)]
}

/** I2: the arrivals of a delivery are numbered 1..n, and exactly the first is the first. */
async function findObservationGaps(pool: pg.Pool): Promise<readonly string[]> {
  return list(
    pool,
    'I2 observations',
    `SELECT d.source || ' ' || d.delivery_id || ': ' || count(o.*) || ' rows up to ' || coalesce(max(o.number), 0) AS what
     FROM counterfoil.delivery d LEFT JOIN counterfoil.observation o ON o.delivery = d.id
     WHERE d.source <> 'sweep'
     GROUP BY d.id
     HAVING count(o.*) = 0 OR count(o.*) <> max(o.number) OR count(*) FILTER (WHERE o.kind = 'first') <> 1`,
  )
}

/** I1: what was acked is claimed, and an ack on record belongs to an observation. */
async function findUnclaimedAcks({ pool, acked }: Evidence): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT delivery_id AS id FROM counterfoil.delivery')
  const claimed = new Set(rows.map(({ id }) => id))
  const missing = [...(acked ?? [])].filter((id) => !claimed.has(id)).map((id) => `I1: acked and not claimed: ${id}`)
  const orphans = await list(
    pool,
    'I1 ack without an observation',
    `SELECT a.observation::text AS what FROM counterfoil.ack a
     WHERE a.status < 300 AND NOT EXISTS (SELECT FROM counterfoil.observation o WHERE o.id = a.observation)`,
  )
  return [...missing.slice(0, 5), ...orphans]
}
