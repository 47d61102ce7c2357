import { adviseNothing, adviseRedrive } from './advise.js'
import { formatSecond } from './format-instant.js'
import type { EntryTimeline } from './timeline.js'
import type { UnaskedVerdict } from './unasked-verdict.js'
import { VERDICT_LABELS } from './verdict.js'

/** The verdict on an entry that a named person settled: worded by who, as what, and on which evidence (I6). */
export function judgeSettled(entry: EntryTimeline): UnaskedVerdict {
  const act = entry.acts.filter((one) => one.action === 'settle').at(-1)
  const who = act === undefined ? 'somebody' : act.actor
  const at = act?.actedAt ?? entry.closedAt
  const when = at === null ? '' : ` at ${formatSecond(at)}`
  const evidence = typeof act?.detail.evidence === 'string' ? ` Evidence: ${act.detail.evidence}` : ''
  if (entry.reason === 'delivered') {
    return {
      kind: 'delivered_once',
      label: `${VERDICT_LABELS.delivered_once} (settled by ${who})`,
      sentence: `Settled as delivered by ${who}${when}; ${entry.destination} itself never answered.${evidence}`,
      advice: adviseNothing(),
    }
  }
  return {
    kind: 'not_delivered',
    label: `${VERDICT_LABELS.not_delivered} (settled by ${who})`,
    sentence: `Settled as not delivered by ${who}${when}.${evidence}`,
    advice: adviseRedrive(entry),
  }
}
