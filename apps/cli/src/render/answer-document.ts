import { listEvents, listUnclaimedEvents } from '@counterfoil/core'
import type { Answer, DeliveryAnswer, QueryAnswer } from '../audit/answer-query.js'
import { toSnakeCase } from './to-snake-case.js'

/** The one document of `show --json`. Fields are only ever added; a change that breaks raises `schema_version`. */
export function answerDocument(answer: QueryAnswer): unknown {
  return toSnakeCase({
    schemaVersion: 1,
    query: answer.query,
    matches: answer.answers.map(matchDocument),
    cut: answer.cut,
    /** Only when there is no match. */
    verdict: answer.nothing,
  })
}

function matchDocument(answer: Answer): Record<string, unknown> {
  if (answer.kind === 'never_claimed') {
    const { arrivals, verdict } = answer
    return { kind: answer.kind, verdict, ...arrivals, timeline: listUnclaimedEvents(arrivals) }
  }
  return { kind: answer.kind, matchedBy: answer.matchedBy, ...deliveryDocument(answer) }
}

export function deliveryDocument({ timeline, verdict }: Pick<DeliveryAnswer, 'timeline' | 'verdict'>) {
  return {
    verdict: verdict.headline,
    counters: verdict.counters,
    ...timeline,
    entries: verdict.entries.map(({ entry, verdict: own, counters }) => ({ verdict: own, counters, ...entry })),
    timeline: listEvents(timeline),
  }
}
