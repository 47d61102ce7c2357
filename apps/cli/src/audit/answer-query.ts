import {
  type ArrivalTimeline,
  type DeliveryTimeline,
  type DeliveryVerdict,
  judgeDelivery,
  judgeVerdict,
  type Verdict,
} from '@counterfoil/core'
import { type Database, findSubjects, type MatchedBy, readArrivalTimeline, readTimelines } from '@counterfoil/db'

export type DeliveryAnswer = {
  readonly kind: 'delivery'
  readonly matchedBy: readonly MatchedBy[]
  readonly timeline: DeliveryTimeline
  readonly verdict: DeliveryVerdict
}
export type ArrivalAnswer = {
  readonly kind: 'never_claimed'
  readonly arrivals: ArrivalTimeline
  readonly verdict: Verdict
}
export type Answer = DeliveryAnswer | ArrivalAnswer

/** "What happened to …?": every subject that the query means, newest first, each judged. */
export type QueryAnswer = {
  readonly query: string
  readonly answers: readonly Answer[]
  /** There are more than these. */
  readonly cut: boolean
  /** Set when nothing was found. */
  readonly nothing: Verdict | null
}

const MOST = 20

/** Looks a query up and judges what it finds. */
export async function answerQuery(database: Database, query: string): Promise<QueryAnswer> {
  const { subjects, cut, earliestKeptAt } = await findSubjects(database, query, { limit: MOST })
  const claimed = subjects.filter((subject) => subject.kind === 'delivery')
  const timelines = await readTimelines(
    database,
    claimed.map((subject) => subject.deliveryUuid),
  )
  const answers: Answer[] = timelines.map((timeline) => ({
    kind: 'delivery',
    matchedBy: claimed.find((subject) => subject.deliveryUuid === timeline.delivery.id)?.matchedBy ?? [],
    timeline,
    verdict: judgeDelivery(timeline),
  }))
  for (const subject of subjects) {
    if (subject.kind !== 'never_claimed') continue
    const arrivals = await readArrivalTimeline(database, { source: subject.source, deliveryId: subject.deliveryId })
    // It may have been claimed between the two reads; then asking again finds its delivery.
    if (arrivals === null) continue
    answers.push({ kind: 'never_claimed', arrivals, verdict: judgeVerdict({ kind: 'never_claimed', arrivals }) })
  }
  const nothing = answers.length > 0 ? null : judgeVerdict({ kind: 'nothing', query, earliestKeptAt })
  return { query, answers, cut, nothing }
}
