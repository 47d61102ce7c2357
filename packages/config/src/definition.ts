import type { Transition } from '@counterfoil/core'
import type { Preset } from '@counterfoil/sources'
import type { Duration } from './duration.js'
import type { EndpointName } from './endpoints.js'
import type { LookupDefinition } from './lookup-definition.js'
import type { DefinedRoute } from './route.js'
import type { SchemeDefinition } from './schemes.js'
import type { SecretRef } from './secret.js'

/** Where a value is: a header, or a JSON pointer (RFC 6901) into the body. */
export type ValuePlace = { readonly header: string } | { readonly pointer: string }

export type KeyDefinition = {
  /** Shown in evidence: which key verified a push. */
  readonly id: string
  readonly secret: SecretRef
  /** ISO 8601 with a zone, Date or epoch ms. */
  readonly notBefore?: string | number | Date
  readonly notAfter?: string | number | Date
}

export type AckDefinition = {
  /** Default 204, or 200 with a body. */
  readonly status?: 200 | 201 | 202 | 204
  /** The answer for first and duplicate alike, from the outcome. */
  readonly body?: (outcome: string) => object
  /** How long we let the sender wait. Default `2.5s`. */
  readonly deadline?: Duration
  /** How long the sender waits, by its documentation. */
  readonly senderTimeout: Duration
  /** Same id, other content. Default `accept`: acked, kept as a conflict and shown. */
  readonly onConflict?: 'accept' | 'refuse_409'
  /** Authentic but unusable. Default `refuse_400`. */
  readonly onMalformed?: 'refuse_400' | 'quarantine'
}

export type SourceDefinition = {
  /** Path of the public URL, exact match. */
  readonly path: string
  readonly publicUrl?: string
  readonly verify: SchemeDefinition
  readonly keys: readonly KeyDefinition[]
  /** `body-digest`: the sender has no id, and equal bytes are the same delivery. */
  readonly deliveryId: ValuePlace | 'body-digest'
  readonly eventType?: ValuePlace | { readonly fixed: string }
  readonly senderAttempt?: ValuePlace
  /** Pointers of fields that may differ between two arrivals of one delivery, such as `/attempt`. */
  readonly volatile?: readonly string[]
  /** Refuse what is older than `age` by a field of the signed body. */
  readonly maxAge?: { readonly pointer: string; readonly age: Duration }
  /** Bytes. Default 262144. */
  readonly bodyLimit?: number
  /** How long the sender may redeliver: claims are kept at least as long. */
  readonly redeliveryHorizon: Duration
  readonly ack: AckDefinition
  /** Event type → what to do. */
  readonly routes: Readonly<Record<string, DefinedRoute>>
  /** For every other type; without it they are acked and kept as ignored. */
  readonly otherwise?: DefinedRoute
}

/** A source whose sender is known: the preset brings verification, ids, handshakes and answers. */
export type PresetSourceDefinition = Pick<
  SourceDefinition,
  'path' | 'publicUrl' | 'eventType' | 'volatile' | 'maxAge' | 'bodyLimit' | 'routes' | 'otherwise'
> & {
  /** Such as `github()`. */
  readonly preset: Preset
  /** Left out where the sender's keys are fetched: Google, Entra, SNS. */
  readonly keys?: readonly KeyDefinition[]
  /** Longer than the preset's, never shorter. */
  readonly redeliveryHorizon?: Duration
  /** The sender's timeout is the preset's. */
  readonly ack?: Omit<AckDefinition, 'senderTimeout'>
}

/** How long a repeat is recognised, and what its keys look like. */
export type KeyTerms = {
  /** How long the destination remembers a key. */
  readonly lifetime: Duration
  /** Automatic retries of a doubtful send stop this long before. Default `10m`. */
  readonly margin?: Duration
  /** Longest key it takes, 44 to 255 characters (default). Longer ones are shortened by a digest. */
  readonly maxLength?: number
  /** `uuid`: each key becomes a UUID made of its digest. Default `text`. */
  readonly form?: 'text' | 'uuid'
}

/**
 * How the destination recognises a repeat: a key in a header, or in the body (put there when the action is frozen).
 * `upsert`: the action writes over itself by a natural key, so a repeat is harmless for ever. `none`: it recognises
 * none, and a doubtful send is never repeated.
 */
export type IdempotencyDefinition =
  | 'none'
  | 'upsert'
  | ({
      readonly header: string
      /** `"key"` instead of `key` (RFC 8941 string). Default false. */
      readonly quoted?: boolean
    } & KeyTerms)
  /** JSON pointer (RFC 6901), such as `/idempotency_key`. */
  | ({ readonly pointer: string } & KeyTerms)

type Scalar = string | number | boolean | null
/** Equal to this, equal to one of these, or there at all. */
export type TestDefinition = Scalar | readonly Scalar[] | { readonly exists: boolean }
/** A status, `'4xx'`, or `'500-504'`. */
export type StatusDefinition = number | string

/** One thing that an answer means. All that is given must hold. */
export type MatcherDefinition = {
  readonly status?: StatusDefinition | readonly StatusDefinition[]
  /** By name; compared without case. */
  readonly headers?: Readonly<Record<string, TestDefinition>>
  /** By JSON pointer; compared exactly. */
  readonly body?: Readonly<Record<string, TestDefinition>>
  /** `held`: uncertain, and asking again under the same key would bring the same answer. */
  readonly outcome:
    | 'accepted'
    | 'repeat'
    | 'rejected'
    | 'key_reused'
    | 'gone'
    | 'unauthorised'
    | 'deferred'
    | 'not_processed'
    | 'in_progress'
    | 'uncertain'
    | 'held'
  /** This no holds for earlier attempts in doubt, too. */
  readonly decidesEarlier?: boolean
}

/** How we prove who we are: one of these. Never part of the frozen bytes. */
export type AuthDefinition =
  | { readonly bearer: SecretRef }
  | { readonly basic: { readonly user: string; readonly password: SecretRef } }
  | {
      /** HMAC over the body, or over `<epoch seconds>.<body>` where `timestampHeader` is given. */
      readonly hmac: {
        readonly secret: SecretRef
        readonly header: string
        /** Default: nothing. */
        readonly prefix?: string
        /** Default `hex`. */
        readonly encoding?: 'hex' | 'base64'
        /** Default `sha256`. */
        readonly algorithm?: 'sha256' | 'sha512'
        readonly timestampHeader?: string
      }
    }
  /** Each secret signs, so that two overlap while the other side changes over. */
  | { readonly standardWebhooks: { readonly secrets: readonly SecretRef[] } }
  | {
      /** Client credentials; the token is kept in the process and fetched anew once after a 401. */
      readonly oauth2: {
        readonly tokenUrl: string
        readonly clientId: string
        readonly clientSecret: SecretRef
        readonly scope?: string
        readonly audience?: string
        /** Where the client's credentials go. Default `basic`. */
        readonly sendAs?: 'basic' | 'form'
      }
    }

export type DestinationDefinition = DestinationParts &
  (
    | { readonly endpoint?: undefined; readonly idempotency: IdempotencyDefinition }
    /** A vendor's endpoint that is known: brings key and matchers, and what is given here stands over it. */
    | { readonly endpoint: EndpointName; readonly idempotency?: IdempotencyDefinition }
  )

type DestinationParts = {
  readonly url: string
  /** Default `POST`. */
  readonly method?: 'POST' | 'PUT' | 'PATCH'
  readonly headers?: Readonly<Record<string, string | SecretRef>>
  readonly auth?: AuthDefinition
  /** PEM: a certificate and its key to show, and an authority to believe instead of the public ones. */
  readonly tls?: { readonly cert?: SecretRef; readonly key?: SecretRef; readonly ca?: SecretRef }
  readonly timeouts?: {
    readonly connect?: Duration
    readonly headers?: Duration
    readonly body?: Duration
    readonly total?: Duration
  }
  /** Longer than the total timeout plus 5 s. Default: total plus 15 s. */
  readonly lease?: Duration
  /** Slots of one worker. Default 16. */
  readonly concurrency?: number
  /** Bytes read of an answer. Default 65536. */
  readonly responseCap?: number
  /** May the address be private, loopback or link-local? Default false. */
  readonly allowPrivate?: boolean
  readonly retry?: {
    readonly first?: Duration
    readonly cap?: Duration
    readonly maxAttempts?: number
    readonly maxAge?: Duration
    readonly maxRetryAfter?: Duration
  }
  /** What its answers mean where that differs from the table of statuses; the first that holds decides. */
  readonly matchers?: readonly MatcherDefinition[]
  /** How to ask whether it acted, when no answer told. Without it a person has to find out. */
  readonly lookup?: LookupDefinition
  /** How long a doubt may stay open before it is overdue and a person has to look. `config check` asks for it. */
  readonly reviewWindow?: Duration
  /** Answer headers that say "I knew this key"; without `value` any value says so. Default: those that are in use. */
  readonly replayMarkers?: readonly { readonly header: string; readonly value?: string }[]
}

export type OperatorDefinition = {
  readonly token: SecretRef
  /** May say yes to what another operator asks for, such as sending again as new. Default false. */
  readonly approver?: boolean
}

export type ConfigDefinition = {
  readonly sources: Readonly<Record<string, SourceDefinition | PresetSourceDefinition>>
  readonly destinations: Readonly<Record<string, DestinationDefinition>>
  /** Who may act: name → token. */
  readonly operators?: Readonly<Record<string, OperatorDefinition>>
  /** Transitions that no route uses, to be swept all the same. Those of routes are found by themselves. */
  readonly transitions?: readonly Transition[]
}

/** What `counterfoil.config.ts` exports by default. Gives editors the types; nothing is read or checked yet. */
export function defineConfig(definition: ConfigDefinition): ConfigDefinition {
  return definition
}
