import { type KeyContract, keyWindowEndsAt, mayRepeatAt } from '../attempt/key-window.js'
import { formatSecond } from './format-instant.js'
import type { EntryTimeline } from './timeline.js'
import { type WeighedAttempts, weighAttempts } from './weigh-attempts.js'

/** What is known of the destination of an entry: its contract, that it is no longer configured, or nothing at all. */
export type KnownContract = KeyContract | 'removed' | 'unknown'

export type RedriveFacts = {
  readonly entry: EntryTimeline
  readonly contract: KnownContract
  /** The database's time, epoch ms. */
  readonly now: number
}

export type RedriveRefusal =
  | 'under_way'
  | 'already_pending'
  | 'misplaced'
  | 'delivered'
  | 'late_yes'
  | 'settled_as_delivered'
  | 'cancelled'
  | 'content_erased'
  | 'destination_removed'
  | 'doubt'
  | 'doubt_without_key'
  | 'doubt_sent_without_key'
  | 'doubt_key_window_closed'

export type RedriveJudgement =
  /** `protectedUntil`: in doubt, the destination recognises a repeat until then; `null`: for ever, or there is no doubt. */
  | {
      readonly kind: 'safe'
      readonly inDoubt: boolean
      readonly protectedUntil: number | null
      readonly why: string
    }
  | { readonly kind: 'unsafe'; readonly because: RedriveRefusal; readonly why: string; readonly next: string }

/**
 * May an entry go out once more under the same key, with the same bytes? Only where nothing that was sent can have taken
 * effect, or where the destination still recognises the key (I6). The one place that says so.
 */
export function judgeRedrive(facts: RedriveFacts): RedriveJudgement {
  const weighed = weighAttempts(facts.entry)
  const because = refuse(facts, weighed)
  if (because !== null) return { kind: 'unsafe', because, ...REFUSALS[because](facts.entry) }
  const { entry, contract, now } = facts
  if (!isInDoubt(entry, weighed) || typeof contract === 'string') {
    const why = 'nothing that was sent took effect, and it goes out under the same key'
    return { kind: 'safe', inDoubt: false, protectedUntil: null, why }
  }
  const endsAt = keyWindowEndsAt(doubtHistory(entry, weighed, now), contract, now) ?? now
  const protectedUntil = Number.isFinite(endsAt) ? endsAt : null
  const until = protectedUntil === null ? '' : ` until ${formatSecond(protectedUntil)}`
  const why = `${entry.destination} recognises it${until}, so a repeat is not carried out twice`
  return { kind: 'safe', inDoubt: true, protectedUntil, why }
}

function refuse({ entry, contract, now }: RedriveFacts, weighed: WeighedAttempts): RedriveRefusal | null {
  if (entry.state === 'pending') return refusePending(entry)
  if (entry.state === 'delivered') return 'delivered'
  if (weighed.accepted.length > 0) return 'late_yes'
  if (entry.state === 'settled' && entry.reason === 'delivered') return 'settled_as_delivered'
  if (entry.state === 'cancelled') return 'cancelled'
  if (entry.contentErased) return 'content_erased'
  if (contract === 'removed') return 'destination_removed'
  return isInDoubt(entry, weighed) ? refuseDoubt(entry, weighed, contract, now) : null
}

function refusePending({ position }: EntryTimeline): RedriveRefusal {
  if (position.kind === 'leased') return 'under_way'
  return position.kind === 'nowhere' || position.kind === 'final' ? 'misplaced' : 'already_pending'
}

function refuseDoubt(
  entry: EntryTimeline,
  weighed: WeighedAttempts,
  contract: KeyContract | 'unknown',
  now: number,
): RedriveRefusal | null {
  if (contract === 'unknown') return 'doubt'
  const allowed = mayRepeatAt(now, doubtHistory(entry, weighed, now), contract, now)
  if (allowed === 'no_key') return 'doubt_without_key'
  // A key protects only what carried it: the contract may have been another one then. What is protected for ever needs none.
  const isForEver = keyWindowEndsAt(doubtHistory(entry, weighed, now), contract, now) === Number.POSITIVE_INFINITY
  if (!isForEver && weighed.doubtful.some((attempt) => attempt.key === 'not_sent')) return 'doubt_sent_without_key'
  return allowed === 'yes' ? null : 'doubt_key_window_closed'
}

/** An entry held as uncertain is in doubt even where its attempts are no longer on record. */
function isInDoubt(entry: EntryTimeline, weighed: WeighedAttempts): boolean {
  return entry.state === 'uncertain' || weighed.doubtful.length > 0
}

/** The window counts from the first send that may have arrived; without any on record, from when the entry was made. */
function doubtHistory(entry: EntryTimeline, weighed: WeighedAttempts, now: number) {
  const opened = weighed.doubtful.map((attempt) => attempt.openedAt)
  const sent = entry.firstSentAt === null ? opened : [...opened, entry.firstSentAt]
  return {
    attempts: weighed.all.length,
    tries: weighed.all.length,
    firstSentAt: sent.length === 0 ? entry.createdAt : Math.min(...sent),
    uncertainSince: entry.uncertainSince ?? now,
    createdAt: entry.createdAt,
  }
}

type Said = { readonly why: string; readonly next: string }

const show = (entry: EntryTimeline) => `Look again: counterfoil show ${entry.id}.`
const again = (entry: EntryTimeline) =>
  `If a second action is wanted all the same: counterfoil send-again ${entry.id} --approved-by … --reason "…".`
const settle = (entry: EntryTimeline) =>
  `Find out at ${entry.destination} whether it acted, by the key ${entry.idempotencyKey}, and record it: ` +
  `counterfoil settle ${entry.id} --as delivered|not-delivered --evidence "…" --reason "…".`

const REFUSALS: Readonly<Record<RedriveRefusal, (entry: EntryTimeline) => Said>> = {
  under_way: (entry) => ({
    why: 'an attempt is under way, and its answer is not known yet',
    next: `Wait for its end. ${show(entry)}`,
  }),
  already_pending: (entry) => ({
    why: 'it is still being worked on; a redrive would only get in its way',
    next: `Wait: it goes on by itself. ${show(entry)}`,
  }),
  misplaced: () => ({
    why: 'its place in the queue is missing, which has to be repaired first',
    next: 'See what else is misplaced, and report it: counterfoil doctor.',
  }),
  delivered: (entry) => ({
    why: 'it was delivered: sending it again would be a second request for the same action',
    next: again(entry),
  }),
  late_yes: (entry) => ({
    why: `${entry.destination} accepted it, although the answer came late: sending it again would be a second request`,
    next: again(entry),
  }),
  settled_as_delivered: (entry) => ({
    why: 'a person has settled it as delivered, with evidence',
    next: again(entry),
  }),
  cancelled: (entry) => ({ why: 'it was cancelled on purpose', next: again(entry) }),
  content_erased: () => ({
    why: 'its content was erased',
    next: 'It cannot be sent again. Ask the source to push it anew.',
  }),
  destination_removed: (entry) => ({
    why: `${entry.destination} is no longer configured, so nobody would send it`,
    next: `Put ${entry.destination} back into the configuration first.`,
  }),
  doubt: (entry) => ({
    why: 'its effect is in doubt: only while its destination still recognises the key is the same key safe',
    next: settle(entry),
  }),
  doubt_without_key: (entry) => ({
    why: `its effect is in doubt, and ${entry.destination} recognises no repeats: it could be carried out twice`,
    next: settle(entry),
  }),
  doubt_sent_without_key: (entry) => ({
    why: `its effect is in doubt, and what was sent carried no key that ${entry.destination} could recognise`,
    next: settle(entry),
  }),
  doubt_key_window_closed: (entry) => ({
    why: `its effect is in doubt, and ${entry.destination} may have forgotten the key by now`,
    next: settle(entry),
  }),
}

export const REDRIVE_REFUSALS = Object.keys(REFUSALS) as readonly RedriveRefusal[]
