import type { EntryVerdict } from './judge-delivery.js'
import { VERDICT_LABELS, type Verdict, type VerdictKind } from './verdict.js'

/** An action and what was sent again for it as new, on purpose: several business actions for one wish. */
export type Family = {
  readonly members: readonly EntryVerdict[]
  /** Says how many actions there are, and how each of them stands. */
  readonly sentence: string
  /** More than one of them took effect, or may have. */
  readonly actedTwice: boolean
}

const ACTED: readonly VerdictKind[] = [
  'delivered_once',
  'delivered_repeat_ignored',
  'possibly_delivered_more_than_once',
  'unknown',
]

/** The families among the actions of a delivery. Pure. */
export function findFamilies(entries: readonly EntryVerdict[]): readonly Family[] {
  const roots = [...new Set(entries.flatMap(({ entry }) => (entry.again === null ? [] : [entry.again.root])))]
  return roots.map((root) => toFamily(entries.filter(({ entry }) => entry.id === root || entry.again?.root === root)))
}

function toFamily(members: readonly EntryVerdict[]): Family {
  const sorted = [...members].sort((a, b) => (a.entry.again?.number ?? 0) - (b.entry.again?.number ?? 0))
  const destination = sorted[0]?.entry.destination ?? ''
  const each = sorted.map(({ entry, verdict }) => `${entry.idempotencyKey}: ${verdict.label}`).join('; ')
  const acted = sorted.filter(({ verdict }) => ACTED.includes(verdict.kind))
  const twice = acted.length > 1 ? ` ${destination} acted, or may have acted, on ${acted.length} of them.` : ''
  const sentence = `There are ${sorted.length} business actions for it, since people sent it again as new (${each}).${twice}`
  return { members: sorted, sentence, actedTwice: acted.length > 1 }
}

/** What replaced a refusal tells how it stands: the old no is still said, but does not head the delivery. */
export function isReplaced(one: EntryVerdict, families: readonly Family[]): boolean {
  const own = families.find(({ members }) => members.includes(one))
  if (own === undefined || one.verdict.kind !== 'not_delivered') return false
  return own.members.some(
    ({ entry, verdict }) => isLater(entry.again, one.entry.again) && verdict.kind !== 'not_delivered',
  )
}

type Again = EntryVerdict['entry']['again']

function isLater(a: Again, b: Again): boolean {
  return (a?.number ?? 0) > (b?.number ?? 0)
}

/** The headline of a delivery of which one wish was carried out by more than one action. */
export function judgeFamily({ members, sentence }: Family): Verdict {
  const first = members[0]
  if (first === undefined) throw new Error('a family has members')
  return {
    kind: 'possibly_delivered_more_than_once',
    label: VERDICT_LABELS.possibly_delivered_more_than_once,
    sentence,
    advice: {
      name: 'check',
      text: `It was wanted. Look at ${first.entry.destination} for both keys before you tell the customer.`,
      command: null,
      redrive: first.verdict.advice.redrive,
    },
  }
}
