import { randomFillSync } from 'node:crypto'
import { createUuidV7Generator, type Disposition, type PlannedTransition } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { writeEntries } from './claim/write-entries.js'
import { decideDelivery, type SubjectLock } from './transition/decide-delivery.js'
import { lockSubjects } from './transition/lock-subjects.js'
import { openSavepoint } from './transition/open-savepoint.js'
import { readSubjectTable } from './transition/subject-table.js'

export type ReleaseResult =
  | { readonly kind: 'released'; readonly outcome: string | null; readonly destinations: readonly string[] }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_quarantined' }
  | { readonly kind: 'already_released' }

const TIMEOUT_MS = 5_000

type Found = { source: string; delivery_id: string; disposition: string; done: boolean }

/**
 * Gives a quarantined delivery what it asks for, inside the caller's open transaction, which recorded the act (I9) and
 * made acts on this delivery take turns. What is not due waits, as there is no sender to refuse. Throws when a
 * transition's row stays locked for 5 s, its code throws, or the caller's role may not change its table: roll back then.
 */
export async function releaseDelivery(
  client: ClientBase,
  deliveryUuid: string,
  disposition: Extract<Disposition, { kind: 'act' }>,
): Promise<ReleaseResult> {
  const { rows } = await client.query<Found>(
    `SELECT d.source, d.delivery_id, d.disposition,
            EXISTS (SELECT FROM counterfoil.transition_outcome t WHERE t.delivery = d.id)
            OR EXISTS (SELECT FROM counterfoil.entry e WHERE e.delivery = d.id)
            OR EXISTS (SELECT FROM counterfoil.entry_link l WHERE l.delivery = d.id) AS done
     FROM counterfoil.delivery d WHERE d.id = $1`,
    [deliveryUuid],
  )
  const found = rows[0]
  if (found === undefined) return { kind: 'not_found' }
  if (found.disposition !== 'quarantined') return { kind: 'not_quarantined' }
  if (found.done) return { kind: 'already_released' }
  if (disposition.transition !== null) return releaseTransition(client, deliveryUuid, found, disposition.transition)
  const asked = disposition.entries.map((entry) => ({ deliveryUuid, entry }))
  const written = await writeEntries(client, asked)
  return { kind: 'released', outcome: null, destinations: [...new Set(written.map(({ entry }) => entry.destination))] }
}

async function releaseTransition(
  client: ClientBase,
  deliveryUuid: string,
  found: Found,
  planned: PlannedTransition,
): Promise<ReleaseResult> {
  const newId = createUuidV7Generator({ now: Date.now, fillRandom: (pool) => void randomFillSync(pool) })
  const savepoint = await openSavepoint(client, TIMEOUT_MS)
  try {
    const lock = await lockPlanned(client, planned)
    const asker = { deliveryUuid, source: found.source, deliveryId: found.delivery_id }
    const asked: PlannedTransition = { ...planned, notDue: planned.notDue === 'refuse' ? 'defer' : planned.notDue }
    const options = { decidedBy: 'release', newId, timeoutMs: TIMEOUT_MS } as const
    const step = await decideDelivery(client, savepoint.trx, asker, asked, lock, options)
    if (step.kind !== 'decided') throw new Error(step.kind === 'broken' ? step.cause : 'a release was refused')
    await savepoint.commit()
    const destinations = [...new Set(step.written.map(({ entry }) => entry.destination))]
    return { kind: 'released', outcome: step.outcome, destinations }
  } catch (error) {
    await savepoint.rollback().catch(() => {})
    throw error
  }
}

async function lockPlanned(client: ClientBase, planned: PlannedTransition): Promise<SubjectLock | null> {
  if (planned.transition.kind === 'custom') return null
  const table = await readSubjectTable(client, planned.transition)
  const id = table.toId(planned.subject)
  const { rows } = await lockSubjects(client, table, id === null ? [] : [id], true)
  return { table, rows: new Map(rows) }
}
