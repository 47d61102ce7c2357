import type { PlannedTransition } from '../transition/transition.js'

/** A value that people search by. A personal one is searchable but never logged. */
export type Reference = { readonly name: string; readonly value: string; readonly personal: boolean }

/** A business action with its bytes frozen. `id` is made once, so a repeated commit counts nothing twice. */
export type PlannedEntry = {
  readonly id: string
  readonly destination: string
  readonly idempotencyKey: string
  readonly body: Buffer
  /** SHA-256 of `body`. */
  readonly bodyDigest: Buffer
  readonly contentType: string
  readonly orderingKey: string | null
}

/** What the configuration makes of a verified delivery. */
export type Disposition =
  | { readonly kind: 'act'; readonly transition: PlannedTransition | null; readonly entries: readonly PlannedEntry[] }
  /** No route wants this event type: kept with its reason, so that "never queued" has an answer. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** Authentic but unusable, and the source says to keep it rather than to refuse it. */
  | { readonly kind: 'quarantined'; readonly reason: string }

/** One thing that we are about to accept responsibility for. */
export type PlannedDelivery = {
  /** UUIDv7, made once per arrival: this arrival was the first ⇔ the stored delivery has this id. */
  readonly id: string
  /** UUIDv7 of this arrival. */
  readonly observationId: string
  readonly source: string
  /** Exactly as received; unique per source, compared byte for byte. */
  readonly deliveryId: string
  readonly identityDigest: Buffer
  readonly eventType: string | null
  /** Which signing key verified it. */
  readonly keyId: string
  /** The sender's own attempt counter, when it tells one. */
  readonly senderAttempt: number | null
  /** When it happened by the sender's word, epoch ms. */
  readonly eventAt: number | null
  /** The order that the sender keeps: context here, since the order of what we send is each action's own. */
  readonly senderOrderingKey: string | null
  readonly body: Buffer
  readonly contentType: string | null
  readonly references: readonly Reference[]
  readonly disposition: Disposition
}

/** One push: most carry one delivery; a batch is claimed all or nothing. */
export type PlannedPush = { readonly deliveries: readonly PlannedDelivery[] }
