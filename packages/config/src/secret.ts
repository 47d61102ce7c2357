/** How the text of a secret becomes bytes. `utf8`: the text itself, which is what most senders mean. */
export type SecretEncoding = 'utf8' | 'base64' | 'hex'

export type SecretOptions = {
  /** Put in front of the value where it is used as a header, such as `Bearer `. */
  readonly prefix?: string
  /** Default `utf8`. */
  readonly encoding?: SecretEncoding
}

/** Where a secret is. A configuration holds references only, never a secret itself. */
export type SecretRef = SecretOptions &
  (
    | { readonly kind: 'secret_env'; readonly variable: string }
    /** Relative to the folder of the configuration file. */
    | { readonly kind: 'secret_file'; readonly path: string }
  )

export const secret = {
  /** The environment variable `variable`, or the file that `<variable>_FILE` names; both at once is an error. */
  env: (variable: string, options: SecretOptions = {}): SecretRef => ({ kind: 'secret_env', variable, ...options }),
  /** A file. One trailing newline is not part of the secret. Read again by `reloadSecrets`. */
  file: (path: string, options: SecretOptions = {}): SecretRef => ({ kind: 'secret_file', path, ...options }),
} as const
