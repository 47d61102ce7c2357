import type { ActionDraft, NotDuePolicy, Transition } from '../transition/transition.js'
import type { Reference } from './planned-push.js'
import type { SigningKey } from './push-request.js'
import type { Sign } from './sign-hmac.js'
import type { Verify } from './verification.js'

/** What a route sees of a verified delivery. */
export type SourceEvent<Payload = unknown> = {
  readonly source: string
  readonly deliveryId: string
  readonly type: string | null
  readonly payload: Payload
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

/** Where a value of the request is: a header, or a JSON pointer (RFC 6901) into the body. */
export type ValueAt =
  | { readonly kind: 'header'; readonly header: string }
  | { readonly kind: 'pointer'; readonly pointer: string }

/** Everything the receiver knows of one source, resolved from configuration. */
export type SourceContract = {
  readonly name: string
  /** Path of the public URL, exact match. */
  readonly path: string
  readonly publicUrl: string | null
  readonly verify: Verify
  /** How a sender signs for it, where we know: `counterfoil push` does so. */
  readonly sign?: Sign
  /** Read at every push: keys rotate without a restart. */
  readonly keys: () => readonly SigningKey[]
  /** `body_digest`: the sender has no id, and equal bytes are the same delivery. */
  readonly deliveryId: ValueAt | { readonly kind: 'body_digest' }
  readonly senderAttempt: ValueAt | null
  readonly eventType: ValueAt | { readonly kind: 'fixed'; readonly value: string } | null
  /** Pointers of fields that may differ between two arrivals of the same delivery. */
  readonly volatilePointers: readonly string[]
  /** A delivery whose signed field is older than this is refused as stale. ISO 8601 text or epoch seconds/ms. */
  readonly maxAge: { readonly pointer: string; readonly ms: number } | null
  readonly bodyLimitBytes: number
  readonly ack: {
    readonly status: 200 | 201 | 202 | 204
    /** The same for first and duplicate; `null`: no body. */
    readonly body: ((outcome: string) => object) | null
    /** How long the sender waits for us, by its documentation. */
    readonly senderTimeoutMs: number
    /** How long we let it wait. */
    readonly deadlineMs: number
    readonly onConflict: 'accept' | 'refuse_409'
    readonly onMalformed: 'refuse_400' | 'quarantine'
  }
  /** How long the sender may redeliver: claims are kept at least this long. */
  readonly redeliveryHorizonMs: number
  /** Event type → route. Types without one are acked and kept as ignored. */
  readonly routes: ReadonlyMap<string, Route>
  /** For every type that has no route of its own; `null`: ignored. */
  readonly otherwise: Route | null
}
