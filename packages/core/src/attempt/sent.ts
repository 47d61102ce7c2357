/** The facts of one try to send. Made by the sender, judged by `classify`; never throws for a network result. */
export type Sent =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Lower-case names, values joined by ", ", only what rules may read. */
      readonly headers: Readonly<Record<string, string>>
      /** At most the response cap. `null`: lost or cut after the status line. */
      readonly body: Buffer | null
      readonly bodyTruncated: boolean
      readonly durationMs: number
    }
  | {
      readonly kind: 'failed'
      /** undici or system error code, else the error's name. */
      readonly code: string
      /** For people; sanitised by whoever stores it. */
      readonly message: string
      /** Were this request's headers handed to the socket? `null`: no marker, assume yes. */
      readonly headersHandedOver: boolean | null
      /** Which step the time-out or error was in, as far as is known. */
      readonly step: 'connect' | 'send' | 'headers' | 'body' | 'total' | 'unknown'
      readonly durationMs: number
    }

/** Codes of failures that were the sender's own decision, beside those of undici and the system. */
export type OwnFailureCode =
  /** The lease, or the key window of a doubtful entry, ended before the headers could go: nothing was sent. */
  | 'ERR_COUNTERFOIL_LEASE_ENDED'
  | 'ERR_COUNTERFOIL_TOTAL_TIMEOUT'
  /** Aborted by a stop; what had left before decides the outcome. */
  | 'ERR_COUNTERFOIL_STOPPING'
  /** The resolved address is not allowed: nothing was connected. */
  | 'ERR_COUNTERFOIL_EGRESS'
  /** OAuth2: the token endpoint gave no token. Nothing went to the destination. */
  | 'ERR_COUNTERFOIL_TOKEN'
