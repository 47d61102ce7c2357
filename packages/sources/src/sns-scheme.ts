import { type KeyObject, verify as verifySignature, X509Certificate } from 'node:crypto'
import {
  type CertificateReading,
  decodeSignature,
  type PushRequest,
  parseInstant,
  type Refusal,
  readHeader,
  refuse,
  type Scheme,
  unavailable,
  type Verification,
} from '@counterfoil/core'
import { isSnsCertificateUrl } from './sns-addresses.js'
import { parseSnsMessage, type SnsMessage, snsSignedText } from './sns-message.js'
import { createSnsSigner } from './sns-signer.js'

export type SnsOptions = {
  /** Any AWS account can have its messages signed, so only these topics count. */
  readonly topicArns: readonly string[]
  /** Signature version 1 is SHA-1. Better: set the topic's SignatureVersion to 2. */
  readonly allowSha1: boolean
}

/** RSA of 2048 to 4096 bits. */
const SIGNATURE_BYTES = [256, 384, 512]

/**
 * Amazon SNS signs the decoded values of a message, not its bytes: what it does not list (`UnsubscribeURL`) anybody can
 * change. Everything that is cheap is judged before a certificate is looked for, so that a stranger who does not know a
 * topic makes us fetch nothing.
 */
export function createSnsScheme(options: SnsOptions): Scheme {
  const topics = new Set(options.topicArns)
  const publicKeys = new WeakMap<
    CertificateReading,
    { readonly key: KeyObject; readonly validFrom: number; readonly validTo: number }
  >()

  function judge(message: SnsMessage, signature: Buffer, reading: CertificateReading, now: number): Verification {
    if (reading.kind === 'missing') {
      return unavailable('key_material_unavailable', `the certificate of SNS is not to be had: ${reading.cause}`)
    }
    const certificate = publicKeys.get(reading) ?? readCertificate(reading.pem)
    if (certificate === null) return unavailable('key_material_unavailable', 'the certificate of SNS can not be read')
    publicKeys.set(reading, certificate)
    if (now < certificate.validFrom) {
      return refuse('certificate_not_yet_valid', 'the certificate that signed it is not valid yet')
    }
    if (now > certificate.validTo) return refuse('certificate_expired', 'the certificate that signed it has expired')
    const hash = message.signatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
    if (!verifySignature(hash, Buffer.from(snsSignedText(message)), certificate.key, signature)) {
      return refuse('signature_mismatch', 'the certificate of SNS did not sign these values')
    }
    const keyId = message.signingCertUrl.slice(message.signingCertUrl.lastIndexOf('/') + 1)
    return { kind: 'verified', keyId, bodyBound: true, signedAt: parseInstant(message.values.Timestamp) }
  }

  return {
    family: 'sns',
    verify: (request, _keys, now, material) => {
      const message = readMessage(request, topics, options.allowSha1)
      if (message.kind === 'refused') return message
      const signature = decodeRsaSignature(message.signature)
      if (signature === null) return refuse('signature_malformed', 'Signature is not the base64 of an RSA signature')
      const reading = material.certificate(message.signingCertUrl)
      return reading instanceof Promise
        ? reading.then((settled) => judge(message, signature, settled, now))
        : judge(message, signature, reading, now)
    },
    sign: createSnsSigner(options),
    binds: { body: true, id: false, time: true, url: false },
    toleranceMs: null,
    needsPublicUrl: false,
    keyEncoding: null,
  }
}

function readMessage(request: PushRequest, topics: ReadonlySet<string>, allowSha1: boolean): SnsMessage | Refusal {
  const raw = readHeader(request.headers, 'x-amz-sns-rawdelivery')
  if (raw.kind === 'found' && String(raw.value).toLowerCase() === 'true') {
    return refuse('signature_missing', 'raw message delivery carries no signature; switch it off for this subscription')
  }
  const message = parseSnsMessage(request.rawBody)
  if (message.kind === 'refused') return message
  if (!topics.has(message.values.TopicArn ?? '')) {
    return refuse('topic_not_allowed', 'TopicArn is none of the topics of this source')
  }
  if (message.signatureVersion === '1' && !allowSha1) {
    return refuse('signature_version_unknown', 'SignatureVersion 1 is SHA-1; set the topic to SignatureVersion 2')
  }
  if (message.signatureVersion !== '1' && message.signatureVersion !== '2') {
    return refuse('signature_version_unknown', 'SignatureVersion is neither 1 nor 2')
  }
  if (!isSnsCertificateUrl(message.signingCertUrl)) {
    return refuse('certificate_url_refused', 'SigningCertURL is not a certificate of SNS at amazonaws.com')
  }
  return message
}

function decodeRsaSignature(text: string): Buffer | null {
  for (const bytes of SIGNATURE_BYTES) {
    const signature = decodeSignature(text, 'base64', bytes)
    if (signature !== null) return signature
  }
  return null
}

function readCertificate(
  pem: string,
): { readonly key: KeyObject; readonly validFrom: number; readonly validTo: number } | null {
  try {
    const certificate = new X509Certificate(pem)
    const { publicKey: key, validFrom, validTo } = certificate
    return { key, validFrom: Date.parse(validFrom), validTo: Date.parse(validTo) }
  } catch {
    return null
  }
}
