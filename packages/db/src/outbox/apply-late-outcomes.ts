import { decideLate, type EntryState, type LateDecision } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/index.js'
import { inTransaction } from './in-transaction.js'
import { judgeLateOutcomes, type RecordedOutcome } from './judge-late-outcomes.js'

const LOCK_DUE = 'SELECT FROM counterfoil.due WHERE entry = $1 FOR UPDATE'

/** The mark waits for a close in flight, and a close that waits for the mark reads it: no late outcome slips through. */
const MARK_LEASE = 'UPDATE counterfoil.lease SET late = true WHERE entry = $1'

const LOCK_ENTRY = 'SELECT state FROM counterfoil.entry WHERE id = $1 FOR UPDATE'

const READ_OUTCOMES = `
SELECT number, outcome, repeat, false AS late FROM counterfoil.attempt WHERE entry = $1
UNION ALL
SELECT number, outcome, repeat, true FROM counterfoil.late_outcome WHERE entry = $1
ORDER BY number`

/** $2: the state, $3: its reason, $4: repeat. What was due brings its counts along. */
const FINISH = `
WITH taken AS (DELETE FROM counterfoil.due WHERE entry = $1 RETURNING *)
UPDATE counterfoil.entry e
   SET state = $2, reason = $3, repeat = $4, uncertain_since = NULL, closed_at = clock_timestamp(),
       attempts = coalesce(t.attempts, e.attempts), tries = coalesce(t.tries, e.tries),
       first_sent_at = coalesce(t.first_sent_at, e.first_sent_at)
  FROM (SELECT $1::uuid AS id) one LEFT JOIN taken t ON t.entry = one.id
 WHERE e.id = one.id`

const CLEAR_DOUBT_OF_DUE = 'UPDATE counterfoil.due SET uncertain_since = NULL WHERE entry = $1'

const RETURN_TO_DUE = `
WITH returned AS (
  UPDATE counterfoil.entry SET state = 'pending', reason = NULL, uncertain_since = NULL, closed_at = NULL
   WHERE id = $1 AND state = 'uncertain' RETURNING *
)
INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries, first_sent_at)
SELECT id, destination, clock_timestamp(), attempts, tries, first_sent_at FROM returned`

/** An entry that moves between two of our looks is looked for again; each move needs a whole attempt. */
const MAX_LOOKS = 10

/**
 * Applies what came late for an entry: to an uncertain or pending one it is the definite answer of its attempt. Row
 * locks decide every race: the due row against a lease, the lease row against its close, the entry against a person.
 *
 * @returns `kept`: nothing changed; the outcome stays as evidence, or waits for the close of the running lease
 */
export async function applyLateOutcomes(database: Database, entryId: string): Promise<'kept' | 'applied'> {
  for (let look = 1; look <= MAX_LOOKS; look += 1) {
    const result = await inTransaction(database, (client) => applyOnce(client, entryId))
    if (result !== 'moved') return result
  }
  return 'kept'
}

async function applyOnce(client: pg.ClientBase, entryId: string): Promise<'kept' | 'applied' | 'moved'> {
  const isDue = (await client.query(LOCK_DUE, [entryId])).rowCount === 1
  if (!isDue && (await client.query(MARK_LEASE, [entryId])).rowCount === 1) return 'kept'
  const [entry] = (await client.query<{ state: EntryState }>(LOCK_ENTRY, [entryId])).rows
  if (entry === undefined) return 'kept'
  if (entry.state === 'pending' && !isDue) return 'moved'

  const outcomes = (await client.query<RecordedOutcome>(READ_OUTCOMES, [entryId])).rows
  const judged = judgeLateOutcomes(outcomes)
  if (judged === null) return 'kept'
  const decision = decideLate(judged.outcome, { state: entry.state, ...judged.situation })
  return (await applyDecision(client, entryId, decision, isDue)) ? 'applied' : 'kept'
}

async function applyDecision(client: pg.ClientBase, entryId: string, decision: LateDecision, isDue: boolean) {
  switch (decision.kind) {
    case 'keep':
      return false
    case 'finish':
      await client.query(FINISH, [entryId, 'delivered', null, decision.repeat])
      return true
    case 'dead_letter':
      await client.query(FINISH, [entryId, 'dead_lettered', decision.because, null])
      return true
    case 'clear_doubt':
      await client.query(isDue ? CLEAR_DOUBT_OF_DUE : RETURN_TO_DUE, [entryId])
      return true
  }
}
