import { type JsonWebKey, type KeyObject, sign } from 'node:crypto'

const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const DAY_MS = 86_400_000

/**
 * A self-signed X.509 certificate as PEM for an RSA key pair, valid from a day ago for a year; for what verifies by
 * certificate, such as SNS. Node can read certificates and not make them, and a stored one would expire one day.
 */
export function makeCertificate(
  pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  name: string,
  now: number = Date.now(),
): string {
  const subject = der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, Buffer.from(name)))))
  const validity = der(0x30, utcTime(now - DAY_MS), utcTime(now + 365 * DAY_MS))
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' })
  const serial = der(0x02, Buffer.from([1]))
  const content = der(0x30, serial, SHA256_WITH_RSA, subject, validity, subject, publicKey)
  const signature = sign('RSA-SHA256', content, pair.privateKey)
  const certificate = der(0x30, content, SHA256_WITH_RSA, der(0x03, Buffer.from([0]), signature))
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

/** The public half as an issuer would publish it. */
export function publishKey(publicKey: KeyObject, kid: string): JsonWebKey {
  return { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' }
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content])
}

function lengthOf(content: Buffer): Buffer {
  if (content.length < 128) return Buffer.from([content.length])
  const bytes = content.length < 256 ? [content.length] : [content.length >> 8, content.length & 0xff]
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function utcTime(at: number): Buffer {
  const text = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${text}Z`))
}
