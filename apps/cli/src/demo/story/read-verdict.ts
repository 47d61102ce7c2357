import { type Counters, judgeDelivery, VERDICT_KINDS, type Verdict, type VerdictKind } from '@counterfoil/core'
import { type Database, findSubjects, readTimelines } from '@counterfoil/db'

export type ReadVerdict = {
  readonly verdict: Pick<Verdict, 'kind' | 'label' | 'sentence'>
  readonly counters: Counters
}

export const NO_RECORD: ReadVerdict = {
  verdict: { kind: 'no_record', label: 'No record', sentence: 'Nothing is on record under this name.' },
  counters: { pushes: 0, repeats: 0, attempts: 0, confirmed: 0, unknown: 0 },
}

/**
 * What `counterfoil show <reference>` answers, by the same functions. Several deliveries may be about one reference,
 * such as a sweep and the push that came after it: the one that is `wanted` goes first, else the least certain.
 */
export async function readVerdict(database: Database, reference: string, wanted: VerdictKind): Promise<ReadVerdict> {
  const { subjects } = await findSubjects(database, reference)
  const uuids = subjects.flatMap((subject) => (subject.kind === 'delivery' ? [subject.deliveryUuid] : []))
  const judged = (await readTimelines(database, uuids)).map(judgeDelivery)
  const read = judged.map(({ headline, counters }): ReadVerdict => ({ verdict: headline, counters }))
  const rank = ({ verdict }: ReadVerdict) => VERDICT_KINDS.indexOf(verdict.kind)
  // Something that is open or unknown must never hide behind the answer that the story hopes for.
  const worst = read.filter((one) => rank(one) <= VERDICT_KINDS.indexOf('not_delivered'))
  return worst[0] ?? read.find((one) => one.verdict.kind === wanted) ?? read[0] ?? NO_RECORD
}
