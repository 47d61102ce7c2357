import type { PushRequest, SigningKey } from '../intake/push-request.js'

/** What a verifier is given. */
export type PushSubject = { readonly request: PushRequest; readonly keys: readonly SigningKey[] }

export type VariedPart = 'secret' | 'key_window' | 'body' | 'url' | 'header'

/** Another way to read the same push, to be judged by the same verifier. */
export type Variation = {
  readonly part: VariedPart
  /** Stable, for machines: `secret_base64`, `body_without_final_newline`… */
  readonly code: string
  /** Completes "it would be valid if …". Shows neither secret, signature nor body. */
  readonly words: string
  /** What to do about it. */
  readonly next: string
  readonly apply: (subject: PushSubject) => PushSubject
}
