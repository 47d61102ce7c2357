import { createHmac } from 'node:crypto'

export type PushSigning =
  | {
      /** HMAC-SHA-256 over `<timestamp>.<body>`. */
      readonly scheme: 'timestamped'
      readonly secret: string | Buffer
      /** Epoch seconds as the sender says them. */
      readonly timestamp: number | string
      readonly encoding?: 'hex' | 'base64'
      /** Put before the signature, e.g. `v1=`. */
      readonly prefix?: string
    }
  | {
      /** HMAC-SHA-256 over the body alone. */
      readonly scheme: 'body'
      readonly secret: string | Buffer
      readonly encoding?: 'hex' | 'base64'
      readonly prefix?: string
    }

/**
 * The signature header's value, as a sender would make it. Written apart from the receiver's own verifier on purpose:
 * a mistake in one must not hide in the other.
 */
export function signPush(body: string | Buffer, signing: PushSigning): string {
  const mac = createHmac('sha256', signing.secret)
  if (signing.scheme === 'timestamped') mac.update(`${signing.timestamp}.`)
  return (signing.prefix ?? '') + mac.update(body).digest(signing.encoding ?? 'hex')
}
