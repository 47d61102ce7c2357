import type { TransitionOutcome } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { encodeNumbers, encodeTexts, encodeUuids } from '../../connection/encode-array.js'

export type DecidedBy = 'push' | 'deferral' | 'sweep' | 'release'

/** What was decided for one delivery. */
export type OutcomeRecord = {
  readonly deliveryUuid: string
  readonly transition: string
  readonly subject: string
  readonly outcome: TransitionOutcome
  /** `timestamptz` text by the database clock; `null`: now. */
  readonly decidedAt: string | null
  /** Ask again this long after the decision, ms; `null`: it is final. */
  readonly askAgainInMs: number | null
}

const RECORD = `
WITH decided AS MATERIALIZED (
  SELECT d.delivery, d.transition, d.subject, d.outcome, coalesce(d.decided_at::timestamptz, clock_timestamp()) AS decided_at,
         d.again_ms
  FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[])
       AS d(delivery, transition, subject, outcome, decided_at, again_ms)
),
waiting AS (
  INSERT INTO counterfoil.deferred (delivery, due_at)
  SELECT delivery, decided_at + again_ms * interval '1 millisecond' FROM decided WHERE again_ms IS NOT NULL
)
INSERT INTO counterfoil.transition_outcome (delivery, number, transition, subject, outcome, decided_by, decided_at)
SELECT d.delivery,
       1 + coalesce((SELECT max(t.number) FROM counterfoil.transition_outcome t WHERE t.delivery = d.delivery), 0),
       d.transition, d.subject, d.outcome, $1, d.decided_at
FROM decided d`

/** Writes outcomes as evidence, and keeps those that are to be asked again. The deliveries are claimed or locked. */
export async function recordOutcomes(
  client: ClientBase,
  decidedBy: DecidedBy,
  records: readonly OutcomeRecord[],
): Promise<void> {
  if (records.length === 0) return
  await client.query({
    name: 'counterfoil_record_outcomes',
    text: RECORD,
    values: [
      decidedBy,
      encodeUuids(records.map((record) => record.deliveryUuid)),
      encodeTexts(records.map((record) => record.transition)),
      encodeTexts(records.map((record) => record.subject)),
      encodeTexts(records.map((record) => record.outcome)),
      encodeTexts(records.map((record) => record.decidedAt)),
      encodeNumbers(records.map((record) => record.askAgainInMs)),
    ],
  })
}
