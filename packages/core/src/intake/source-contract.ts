import type { ActionDraft, NotDuePolicy, Transition } from '../transition/transition.js'
import type { AnswerOverrides } from './answer-overrides.js'
import type { Decode } from './decode-body.js'
import type { Handshake } from './handshake.js'
import type { Reference } from './planned-push.js'
import type { SigningKey } from './push-request.js'
import type { Binds, Sign } from './scheme.js'
import type { Split } from './split.js'
import type { Verify } from './verification.js'

/** What a route sees of a verified delivery. */
export type SourceEvent<Payload = unknown> = {
  readonly source: string
  readonly deliveryId: string
  readonly type: string | null
  readonly payload: Payload
  /** The document as it was sent, where the payload was wrapped in one: message attributes, subject… Else the payload. */
  readonly envelope: unknown
  /** What the body says at a JSON pointer, without rounding: a long integer keeps all its digits. `null`: not there. */
  readonly exactText: (pointer: string) => string | null
}

/** What to do with one event type. */
export type Route = {
  /** Checks and narrows the decoded body; a failure makes the delivery malformed. `message` goes to the log only. */
  readonly parse:
    | ((
        payload: unknown,
      ) => { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string })
    | null
  readonly references: (event: SourceEvent) => readonly Reference[]
  readonly transition: {
    readonly use: Transition
    readonly subject: (event: SourceEvent) => string
    /** The event's own deadline, epoch ms; `null` when the route has no guard. */
    readonly guard: ((event: SourceEvent) => number) | null
    readonly notDue: NotDuePolicy
  } | null
  /** Actions of a delivery without a transition. With one, the transition's own actions count. */
  readonly actions: (event: SourceEvent) => readonly ActionDraft[]
}

/**
 * Where a value of the request is: a header, a JSON pointer (RFC 6901) into the document, a field of a form-encoded
 * body, or the first of several places that has one (a sender with two families of headers, or two content modes).
 */
export type ValueAt =
  | { readonly kind: 'header'; readonly header: string }
  | { readonly kind: 'pointer'; readonly pointer: string }
  | { readonly kind: 'form'; readonly name: string }
  | { readonly kind: 'first_of'; readonly places: readonly ValueAt[] }

/** A part that is not `optional` must be there: without it many deliveries would share one id. */
export type IdPart = { readonly at: ValueAt; readonly optional: boolean }

export type DeliveryIdAt =
  | ValueAt
  /** Several values that only together are unique; joined so that no two lists give one text. */
  | { readonly kind: 'composite'; readonly parts: readonly IdPart[]; readonly separator: string }
  /** The sender has no id, and equal bytes are the same delivery. */
  | { readonly kind: 'body_digest' }

/** Everything the receiver knows of one source, resolved from configuration. */
export type SourceContract = {
  readonly name: string
  /** Path of the public URL, exact match. */
  readonly path: string
  readonly publicUrl: string | null
  readonly verify: Verify
  /** How a sender signs for it; `null` where we don't know. `counterfoil push` and `counterfoil sign` do so. */
  readonly sign: Sign | null
  /** What a right signature says, and what it leaves open. */
  readonly binds: Binds
  /** Read at every push: keys rotate without a restart. */
  readonly keys: () => readonly SigningKey[]
  /** How a document comes out of the bytes. */
  readonly decode: Decode
  /** Several deliveries in one push; `null`: a push is a delivery. */
  readonly split: Split | null
  readonly handshakes: readonly Handshake[]
  readonly deliveryId: DeliveryIdAt
  readonly senderAttempt: ValueAt | null
  readonly eventType: ValueAt | { readonly kind: 'fixed'; readonly value: string } | null
  /** When it happened, by the sender: context, never a decision. */
  readonly eventTime: ValueAt | null
  /** The order that the sender keeps, such as Pub/Sub's ordering key. */
  readonly orderingKey: ValueAt | null
  /** Pointers of fields that may differ between two arrivals of the same delivery. */
  readonly volatilePointers: readonly string[]
  /** A delivery whose signed field is older than this is refused as stale. ISO 8601 text or epoch seconds/ms. */
  readonly maxAge: { readonly pointer: string; readonly ms: number } | null
  readonly bodyLimitBytes: number
  readonly ack: {
    readonly status: 200 | 201 | 202 | 204
    /** The same for first and duplicate; `null`: no body. */
    readonly body: ((outcome: string) => object) | null
    /** Where the sender wants words of its own instead, such as empty TwiML. Never together with `body`. */
    readonly fixedBody: { readonly contentType: string; readonly text: string } | null
    /** How long the sender waits for us, by its documentation. */
    readonly senderTimeoutMs: number
    /** How long we let it wait. */
    readonly deadlineMs: number
    readonly onConflict: 'accept' | 'refuse_409'
    readonly onMalformed: 'refuse_400' | 'quarantine'
  }
  /** What else to answer where the sender reads our usual answer as something else, or has a word for "stop". */
  readonly answers: AnswerOverrides
  /** How long the sender may redeliver: claims are kept at least this long. */
  readonly redeliveryHorizonMs: number
  /** Event type → route. Types without one are acked and kept as ignored. */
  readonly routes: ReadonlyMap<string, Route>
  /** For every type that has no route of its own; `null`: ignored. */
  readonly otherwise: Route | null
}

/** What most senders have: one JSON document a push, no handshake, and our own answers. */
export const PLAIN_CONTRACT = {
  decode: 'json',
  split: null,
  handshakes: [],
  eventTime: null,
  orderingKey: null,
  answers: {},
} as const satisfies Partial<SourceContract>
