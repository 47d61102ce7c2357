/** One request that the sink saw, whatever became of it. */
export type SinkRequest = {
  /** Counted from 1 over the sink's life. */
  readonly number: number
  readonly receivedAt: number
  readonly method: string
  readonly path: string
  readonly key: string | null
  /** SHA-256 of the body, hex; `null` when the body was not read to its end. */
  readonly bodyDigest: string | null
  /** Number of the TCP connection, counted from 1. */
  readonly connection: number
  /** The headers that the script asked to keep. */
  readonly headers: Readonly<Record<string, string>>
  /** What the sink did with it. */
  readonly did: SinkDid
  /** Did this request cause an effect? */
  readonly applied: boolean
}

export type SinkDid = 'pending' | 'answered' | 'replayed' | 'refused_key' | 'hung' | 'dropped' | 'reset' | 'client_left'

/** One business effect. Two with the same path and key are what must not happen. */
export type SinkEffect = {
  readonly path: string
  readonly key: string | null
  readonly bodyDigest: string
  readonly request: number
}

export type SinkSummary = {
  readonly requests: number
  readonly effects: number
  /** Different (path, key) pairs among the effects. */
  readonly distinctKeys: number
  /** Effects beyond the first of their path and key. */
  readonly repeatedEffects: number
  /** Effects without a key. */
  readonly withoutKey: number
  readonly connections: number
}

type Row = {
  receivedAt: number
  method: string
  path: string
  key: string | null
  digest: Buffer | null
  connection: number
  headers: Readonly<Record<string, string>>
  did: SinkDid
  applied: boolean
}

const NO_HEADERS = Object.freeze(Object.create(null)) as Readonly<Record<string, string>>

export type SinkLedger = ReturnType<typeof createSinkLedger>

/** Everything that one sink saw and did, in memory: about 250 bytes a request. */
export function createSinkLedger() {
  let rows: Row[] = []
  let effects: { row: Row; number: number }[] = []
  let byKey = new Map<string, Row>()
  return {
    /** Opens the row of a request and returns its number. */
    open(request: {
      method: string
      path: string
      key: string | null
      connection: number
      headers: typeof NO_HEADERS
    }) {
      const row = { receivedAt: Date.now(), digest: null, did: 'pending' as SinkDid, applied: false, ...request }
      return rows.push(row)
    },
    close(number: number, did: SinkDid): void {
      const row = rows[number - 1]
      if (row !== undefined) row.did = did
    },
    keepDigest(number: number, digest: Buffer): void {
      const row = rows[number - 1]
      if (row !== undefined) row.digest = digest
    },
    /** Records the effect of a request. */
    apply(number: number): void {
      const row = rows[number - 1]
      if (row === undefined) return
      row.applied = true
      effects.push({ row, number })
      if (row.key !== null) byKey.set(joinKey(row.path, row.key), row)
    },
    /** The body digest of the earlier effect under this key, or `null` when the key is new. */
    findApplied(path: string, key: string): Buffer | null {
      return byKey.get(joinKey(path, key))?.digest ?? null
    },
    *readRequests(): Generator<SinkRequest> {
      for (const [index, { digest, ...row }] of rows.entries()) {
        yield { number: index + 1, ...row, bodyDigest: digest?.toString('hex') ?? null }
      }
    },
    *readEffects(): Generator<SinkEffect> {
      for (const { row, number } of effects) {
        yield { path: row.path, key: row.key, bodyDigest: row.digest?.toString('hex') ?? '', request: number }
      }
    },
    summarise(connections: number): SinkSummary {
      const keyed = effects.filter(({ row }) => row.key !== null).length
      return {
        requests: rows.length,
        effects: effects.length,
        distinctKeys: byKey.size,
        repeatedEffects: keyed - byKey.size,
        withoutKey: effects.length - keyed,
        connections,
      }
    },
    clear(): void {
      rows = []
      effects = []
      byKey = new Map()
    },
  }
}

/** The headers to keep, or one shared empty object. */
export function pickHeaders(
  names: readonly string[],
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_HEADERS
  const kept: Record<string, string> = Object.create(null)
  for (const name of names) {
    const value = headers[name]
    if (value !== undefined) kept[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return kept
}

const joinKey = (path: string, key: string) => `${path}\n${key}`
