import { createHmac } from 'node:crypto'
import type { DestinationAuth, LeasedEntry } from '@counterfoil/core'

/** A send, or a question about one under an id of its own. */
export type Signable = Pick<LeasedEntry, 'idempotencyKey' | 'body'>
type PlainAuth = Exclude<DestinationAuth, { kind: 'oauth2' }>

/**
 * The headers that prove who we are, as a flat list of names and values, made for one request: secrets are read now, so
 * that a rotated one counts from the next request on.
 *
 * @param now epoch ms
 */
export function signRequest(auth: PlainAuth, { idempotencyKey, body }: Signable, now: number): string[] {
  switch (auth.kind) {
    case 'bearer':
      return ['authorization', `Bearer ${auth.token().toString('latin1')}`]
    case 'basic':
      return ['authorization', `Basic ${writeBasic(auth.user, auth.password())}`]
    case 'hmac': {
      const { header, prefix, encoding, algorithm, timestampHeader } = auth
      const seconds = String(Math.floor(now / 1_000))
      const hmac = createHmac(algorithm, auth.key())
      if (timestampHeader !== null) hmac.update(`${seconds}.`)
      const signature = `${prefix}${hmac.update(body).digest(encoding)}`
      return timestampHeader === null ? [header, signature] : [timestampHeader, seconds, header, signature]
    }
    case 'standard_webhooks': {
      const seconds = String(Math.floor(now / 1_000))
      const head = `${idempotencyKey}.${seconds}.`
      const signatures = auth.keys.map(
        (key) => `v1,${createHmac('sha256', key()).update(head).update(body).digest('base64')}`,
      )
      return ['webhook-id', idempotencyKey, 'webhook-timestamp', seconds, 'webhook-signature', signatures.join(' ')]
    }
  }
}

/** RFC 7617: user and password, joined as bytes. */
export function writeBasic(user: string, password: Buffer): string {
  return Buffer.concat([Buffer.from(`${user}:`), password]).toString('base64')
}
