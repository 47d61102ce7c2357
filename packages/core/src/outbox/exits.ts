// Every entry is due, leased, visibly held with a reason, or final; no state without an exit (I12). This is the whole of
// it: what can happen to an entry, wherever it is. docs/delivery-lifecycle.md shows the same table, and the tests of
// packages/db do each of these things to real entries.

/** Where an entry is. The first four are one state, `pending`, told apart by the table that holds its place. */
export const PLACES = [
  'due',
  'leased',
  'waiting',
  'parked',
  'delivered',
  'uncertain',
  'dead_lettered',
  'settled',
  'cancelled',
] as const
export type Place = (typeof PLACES)[number]

/** Nobody but a person who wants a second action ever moves it again. */
export const FINAL_PLACES: readonly Place[] = ['delivered', 'settled', 'cancelled']

export const HAPPENINGS = [
  'taken_by_worker',
  'turn_comes',
  'outcome_accepted',
  'outcome_rejected',
  'outcome_unauthorised',
  'outcome_deferred',
  'outcome_not_sent',
  'outcome_uncertain',
  'lease_expired',
  'late_accepted',
  'late_rejected',
  'late_nothing_done',
  'late_uncertain',
  'found_took_effect',
  'found_did_not',
  'found_still_unknown',
  'settle',
  'skip',
  'cancel',
  'redrive',
  'send_again',
  'erase_content',
  'destination_removed',
  'destination_paused',
  'destination_resumed',
] as const
export type Happening = (typeof HAPPENINGS)[number]

/** What may follow. Which of several depends on the entry's history, and each of them can really come. */
export type Exit = {
  readonly to: readonly Place[]
  /** It may stay where it is, and this is why that is right. */
  readonly stays: string | null
  /** It may be refused, for this reason. */
  readonly refused: string | null
  /** It can't happen here at all. */
  readonly never: string | null
}

const NOTHING: Exit = { to: [], stays: null, refused: null, never: null }
const go = (...to: Place[]): Exit => ({ ...NOTHING, to })
const stay = (why: string): Exit => ({ ...NOTHING, stays: why })
const refuse = (why: string): Exit => ({ ...NOTHING, refused: why })
const never = (why: string): Exit => ({ ...NOTHING, never: why })
const or = (one: Exit, other: Exit): Exit => ({
  to: [...one.to, ...other.to],
  stays: one.stays ?? other.stays,
  refused: one.refused ?? other.refused,
  never: null,
})

function everywhere(exit: Exit, but: Partial<Record<Place, Exit>> = {}): Record<Place, Exit> {
  const all = Object.fromEntries(PLACES.map((place) => [place, exit])) as Record<Place, Exit>
  return { ...all, ...but }
}

const attemptEnds = (...to: Place[]) =>
  everywhere(never('only a leased entry has an attempt that can end; a later word comes late'), { leased: go(...to) })

const KEPT = stay('kept as evidence; what is final stays, and the verdict says what contradicts it')
const CLOSE_READS_IT = stay('whoever closes the running attempt reads it')
const OTHER_IN_DOUBT = stay('another attempt is still in doubt')
const SENT_LATER = never('a follower of its ordering key has not been sent')

const late = (waiting: Exit, uncertain: Exit) =>
  everywhere(KEPT, { due: waiting, parked: waiting, leased: CLOSE_READS_IT, waiting: SENT_LATER, uncertain })

const found = (uncertain: Exit) =>
  everywhere(stay('kept as evidence: the doubt that was asked about has ended, or a new attempt is under way'), {
    waiting: SENT_LATER,
    uncertain,
  })

const UNDER_WAY = refuse('an attempt is under way, and its answer is not known yet')
const NO_DOUBT = refuse('nothing about it is in doubt')
const IN_DOUBT = refuse('it may have taken effect already: settle it')
const NOT_PENDING = refuse('it does not wait to be sent')
const BY_ITSELF = refuse('it goes on by itself')
const A_SECOND_ACTION = stay('it stays as it is; the second action is an entry of its own')
const REDRIVE_IT = refuse('it can safely go out under its own key: redrive it; or its content or destination is gone')
const GONE = refuse('its content or its destination is gone, or its content carries the old key')
const NOT_TWICE = refuse('it is still being worked on, so a second action would come on top of the first')
const NEEDS_CONTENT = refuse('it is still to be sent: cancel or settle it first')
const NO_HEAD = refuse('it holds back nobody of its ordering key: finish or cancel it instead')
const KEY_GOES_ON = stay('the next of its ordering key goes on without it')

export const EXITS: Readonly<Record<Happening, Readonly<Record<Place, Exit>>>> = {
  taken_by_worker: everywhere(never('workers take what is due'), { due: go('leased') }),
  turn_comes: everywhere(never('only a follower waits for its turn'), { waiting: go('due') }),
  outcome_accepted: attemptEnds('delivered'),
  outcome_rejected: attemptEnds('dead_lettered', 'uncertain'),
  outcome_unauthorised: attemptEnds('due'),
  outcome_deferred: attemptEnds('due', 'dead_lettered', 'uncertain'),
  outcome_not_sent: attemptEnds('due', 'dead_lettered', 'uncertain'),
  outcome_uncertain: attemptEnds('due', 'uncertain'),
  lease_expired: attemptEnds('due', 'uncertain'),
  late_accepted: late(go('delivered'), go('delivered')),
  late_rejected: late(or(go('dead_lettered'), OTHER_IN_DOUBT), or(go('dead_lettered'), OTHER_IN_DOUBT)),
  late_nothing_done: late(
    or(stay('it goes on, without the doubt'), go('dead_lettered')),
    or(go('due', 'dead_lettered'), OTHER_IN_DOUBT),
  ),
  late_uncertain: late(KEPT, KEPT),
  found_took_effect: found(go('delivered')),
  found_did_not: found(or(go('due', 'dead_lettered'), stay('it was asked too early, and is asked again'))),
  found_still_unknown: found(stay('it is asked again, or waits for a person')),
  settle: everywhere(NO_DOUBT, {
    due: or(go('settled'), NO_DOUBT),
    leased: UNDER_WAY,
    parked: or(go('settled'), NO_DOUBT),
    uncertain: go('settled'),
    dead_lettered: or(NO_DOUBT, go('settled')),
    settled: refuse('somebody has already settled it'),
    cancelled: or(NO_DOUBT, go('settled')),
  }),
  skip: everywhere(NO_HEAD, { uncertain: KEY_GOES_ON, dead_lettered: KEY_GOES_ON }),
  cancel: everywhere(NOT_PENDING, {
    due: or(go('cancelled'), IN_DOUBT),
    leased: UNDER_WAY,
    waiting: go('cancelled'),
    parked: or(go('cancelled'), IN_DOUBT),
  }),
  redrive: everywhere(BY_ITSELF, {
    leased: UNDER_WAY,
    delivered: refuse('it was delivered: that would be a second request for the same action'),
    uncertain: or(go('due'), refuse('its effect is in doubt, and no open key window protects a repeat')),
    dead_lettered: or(go('due'), refuse('its content or its destination is gone, or a late answer speaks against it')),
    settled: or(go('due'), refuse('a person has settled it as delivered')),
    cancelled: refuse('it was cancelled on purpose'),
  }),
  send_again: everywhere(or(A_SECOND_ACTION, GONE), {
    due: NOT_TWICE,
    leased: NOT_TWICE,
    waiting: NOT_TWICE,
    parked: NOT_TWICE,
    uncertain: or(A_SECOND_ACTION, REDRIVE_IT),
    dead_lettered: or(REDRIVE_IT, A_SECOND_ACTION),
    settled: or(A_SECOND_ACTION, REDRIVE_IT),
  }),
  erase_content: everywhere(stay('the record stays; it can no longer be sent'), {
    due: NEEDS_CONTENT,
    leased: NEEDS_CONTENT,
    waiting: NEEDS_CONTENT,
    parked: NEEDS_CONTENT,
  }),
  destination_removed: everywhere(stay('nothing was to be sent'), {
    due: stay('nobody sends it; config check names it until the destination is back, or it is cancelled or settled'),
    leased: stay('its attempt ends, or its lease expires'),
    waiting: stay('its turn comes when the destination is back, or it is cancelled'),
    parked: stay('nobody sends it; config check names it until the destination is back, or it is cancelled or settled'),
  }),
  destination_paused: everywhere(stay('nothing was to be sent'), {
    due: or(stay('it is not taken until the destination goes on'), go('parked')),
    leased: stay('its attempt ends as it ends'),
    waiting: stay('its turn comes later'),
    parked: stay('it stays out of the queue'),
  }),
  destination_resumed: everywhere(stay('nothing was held back'), { parked: go('due') }),
}
