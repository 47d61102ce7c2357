import type {
  ClaimResult,
  HandshakeAnswer,
  Malformed as MalformedPlan,
  Misconfigured as MisconfiguredPlan,
  PlannedPush,
  Refusal,
  SourceContract,
  UnavailableCause,
} from '@counterfoil/core'

/** Decided by the headers alone. */
export type TurnedAway = {
  readonly kind: 'turned_away'
  readonly source: SourceContract | null
  readonly cause:
    | 'unknown_source'
    | 'wrong_method'
    | 'encoded_body'
    | 'too_large'
    | 'overloaded'
    | 'clock_unknown'
    | 'clock_off'
}

/** The body did not come as it must. */
export type Unreadable = {
  readonly kind: 'unreadable'
  readonly source: SourceContract
  readonly cause: 'too_large' | 'too_slow' | 'overloaded' | 'client_gone' | 'body_consumed'
}

/** Read, but not believed; or believed, and too old by its own signed field. */
export type Refused = {
  readonly kind: 'refused'
  readonly source: SourceContract
  readonly keyId: string | null
  readonly cause: Refusal['cause'] | 'delivery_too_old'
  readonly hint: string
}

/** It could not be judged: our own fault or a key server's, and the sender keeps the push. */
export type Unjudged = {
  readonly kind: 'unjudged'
  readonly source: SourceContract
  readonly cause: UnavailableCause
  readonly hint: string
}

/** No delivery: what a sender asks once before it sends. Never stored. */
export type Greeted = {
  readonly kind: 'greeted'
  readonly source: SourceContract
  readonly keyId: string | null
  readonly answer: HandshakeAnswer
  /** The consent that it asks for could not be given now, so it must ask again. */
  readonly unconfirmed: string | null
}

/** Authentic, but not usable, and the source says to refuse it. */
export type Malformed = {
  readonly kind: 'malformed'
  readonly source: SourceContract
  readonly keyId: string
  readonly cause: MalformedPlan['cause']
  readonly hint: string
}

/** Authentic, and our own configuration can't handle it: the sender keeps the push. */
export type Misconfigured = {
  readonly kind: 'misconfigured'
  readonly source: SourceContract
  readonly keyId: string
  readonly hint: MisconfiguredPlan['hint']
}

/** It went to the store, which said what became of it. */
export type Claimed = {
  readonly kind: 'claimed'
  readonly source: SourceContract
  readonly push: PlannedPush
  readonly claim: ClaimResult
}

/** A bug of ours, or the owner's verifier or key reader threw: the sender keeps the push. */
export type Broken = { readonly kind: 'broken'; readonly source: SourceContract; readonly error: unknown }

/** How one push ended; every one of them is answered and recorded. */
export type PushEnd =
  | TurnedAway
  | Unreadable
  | Refused
  | Unjudged
  | Greeted
  | Malformed
  | Misconfigured
  | Claimed
  | Broken
