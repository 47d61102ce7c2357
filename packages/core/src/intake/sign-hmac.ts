import { createHmac } from 'node:crypto'
import type { SigningKey } from './push-request.js'
import type { SignatureEncoding } from './read-signature.js'
import type { HmacBodyOptions, HmacTimestampedOptions } from './verify-hmac.js'

/**
 * The headers with which a sender signs a body for a source, as `counterfoil push` does.
 * @param at what the signature says about its time, epoch ms; ignored where the scheme binds none
 */
export type Sign = (rawBody: Buffer, key: SigningKey, at: number) => Readonly<Record<string, string>>

/** The counterpart of `createHmacBodyVerifier`. */
export function createHmacBodySigner(options: HmacBodyOptions): Sign {
  return (rawBody, key) => ({ [options.signatureHeader]: sign(options, key, [rawBody]) })
}

/** The counterpart of `createHmacTimestampedVerifier`. */
export function createHmacTimestampedSigner(options: HmacTimestampedOptions): Sign {
  return (rawBody, key, at) => {
    const timestamp = String(options.timestampUnit === 'ms' ? Math.floor(at) : Math.floor(at / 1000))
    return {
      [options.timestampHeader]: timestamp,
      [options.signatureHeader]: sign(options, key, [Buffer.from(`${timestamp}.`, 'latin1'), rawBody]),
    }
  }
}

function sign(options: HmacBodyOptions, key: SigningKey, parts: readonly Buffer[]): string {
  const mac = createHmac('sha256', key.secret)
  for (const part of parts) mac.update(part)
  const encoding: SignatureEncoding = options.encoding ?? 'hex'
  return `${options.prefix ?? ''}${mac.digest(encoding)}`
}
