import { generateKeyPairSync } from 'node:crypto'
import { NO_KEY_MATERIAL, type Verification } from '@counterfoil/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSnsSubscribeUrl } from './sns-addresses.js'
import { parseSnsMessage } from './sns-message.js'
import { createSnsScheme } from './sns-scheme.js'
import { arriving, localMaterial, readVectors, toPushRequest } from './testing/vectors.js'

const NOW = 1_800_000_000_000
const file = readVectors('sns')
const material = localMaterial(file)
const sns = createSnsScheme({ topicArns: ['arn:aws:sns:us-east-1:123456789012:MyTopic'], allowSha1: false })

function vector(title: RegExp) {
  const found = file.vectors.find((one) => title.test(one.title))
  if (found === undefined) throw new Error(`no vector ${title}`)
  return toPushRequest(found)
}

const notification = vector(/no Subject/)
const confirmation = vector(/SubscriptionConfirmation/)

async function judge(rawBody: Buffer | object, headers = notification.headers, from = material): Promise<Verification> {
  const bytes = Buffer.isBuffer(rawBody) ? rawBody : Buffer.from(JSON.stringify(rawBody))
  return sns.verify({ ...notification, headers, rawBody: bytes }, [], NOW, from)
}

const message = JSON.parse(notification.rawBody.toString())

describe('what is signed', () => {
  test('a change in any signed value is refused; the layout of the JSON and other fields do not count', async () => {
    expect(await judge({ UnsubscribeURL: 'https://evil.test', ...message })).toMatchObject({ kind: 'verified' })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('Message', 'MessageId', 'Timestamp'),
        fc.nat(),
        fc.integer({ min: 1, max: 0x1f }),
        async (field, at, mask) => {
          const text = Buffer.from(message[field])
          const index = at % text.length
          text[index] = (text[index] ?? 0) ^ mask
          expect(await judge({ ...message, [field]: text.toString('latin1') })).toMatchObject({
            cause: 'signature_mismatch',
          })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a subject that is added is refused, one that is null was never there', async () => {
    expect(await judge({ ...message, Subject: 'added' })).toMatchObject({ cause: 'signature_mismatch' })
    expect(await judge({ ...message, Subject: null })).toMatchObject({ kind: 'verified' })
    expect(await judge({ ...message, Subject: 7 })).toMatchObject({ cause: 'envelope_malformed' })
  })

  test('a notification can not be passed off as a confirmation', async () => {
    const posed = { ...message, Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL: 'https://evil.test' }
    expect(await judge(posed)).toMatchObject({ cause: 'signature_mismatch' })
  })

  test('a confirmation is verified with its link, and the link is judged for itself', async () => {
    const parsed = parseSnsMessage(confirmation.rawBody)
    expect(await judge(confirmation.rawBody)).toMatchObject({ kind: 'verified' })
    const url = parsed.kind === 'message' ? (parsed.values.SubscribeURL ?? '') : ''
    expect(isSnsSubscribeUrl(url)).toBe(true)
    for (const evil of [
      url.replace('https:', 'http:'),
      url.replace('amazonaws.com', 'amazonaws.com.evil.test'),
      url.replace('amazonaws.com/', 'amazonaws.com@evil.test/'),
      url.replace('ConfirmSubscription', 'Unsubscribe'),
      `${url}#x`,
      `${url}\n`,
    ]) {
      expect(isSnsSubscribeUrl(evil), evil).toBe(false)
    }
  })
})

describe('what is refused before anything is fetched', () => {
  const never = {
    ...NO_KEY_MATERIAL,
    certificate: () => {
      throw new Error('fetched')
    },
  }

  test.each([
    ['another topic', { TopicArn: 'arn:aws:sns:us-east-1:1:Other' }, 'topic_not_allowed'],
    ['SHA-1 where it is not allowed', { SignatureVersion: '1' }, 'signature_version_unknown'],
    ['a version to come', { SignatureVersion: '3' }, 'signature_version_unknown'],
    ['another place of the certificate', { SigningCertURL: 'https://evil.test/x.pem' }, 'certificate_url_refused'],
    ['no signature', { Signature: undefined }, 'signature_missing'],
    ['a signature that is no base64', { Signature: '%%' }, 'signature_malformed'],
    ['a signature of another length', { Signature: Buffer.alloc(20).toString('base64') }, 'signature_malformed'],
    ['a type of no kind', { Type: 'constructor' }, 'envelope_malformed'],
    ['no message', { Message: undefined }, 'envelope_malformed'],
  ])('%s', async (_title, changes, cause) => {
    expect(await judge({ ...message, ...changes }, undefined, never)).toMatchObject({ kind: 'refused', cause })
  })

  test('raw message delivery, and a body that is no JSON', async () => {
    const raw = new Map([...notification.headers, ['x-amz-sns-rawdelivery', ['true']] as const])
    expect(await judge(Buffer.from('hello'), raw, never)).toMatchObject({ cause: 'signature_missing' })
    expect(await judge(Buffer.from('hello'), undefined, never)).toMatchObject({ cause: 'envelope_malformed' })
  })
})

describe('certificates', () => {
  test('one that is not to be had: unavailable', async () => {
    expect(await judge(message, undefined, NO_KEY_MATERIAL)).toMatchObject({ kind: 'unavailable' })
  })

  test('one that is no certificate: unavailable', async () => {
    const odd = { ...NO_KEY_MATERIAL, certificate: () => ({ kind: 'found', pem: 'x' }) as const }
    expect(await judge(message, undefined, odd)).toMatchObject({ kind: 'unavailable' })
  })

  test('one that is fetched comes as a promise, one in the cache at once', async () => {
    const slow = { ...material, certificate: async (url: string) => material.certificate(url) }
    expect(await judge(message, undefined, slow)).toMatchObject({ kind: 'verified' })
    expect(sns.verify(notification, [], NOW, material)).not.toBeInstanceOf(Promise)
  })

  test('one that has expired: refused', async () => {
    const late = Date.parse('2099-01-01T00:00:00Z')
    expect(await sns.verify(notification, [], late, material)).toMatchObject({ cause: 'certificate_expired' })
  })

  test('one whose time has not come yet: refused', async () => {
    const early = Date.parse('2001-01-01T00:00:00Z')
    expect(await sns.verify(notification, [], early, material)).toMatchObject({ cause: 'certificate_not_yet_valid' })
  })
})

test('what is signed with a key of our own is a whole message', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const secret = Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const body = Buffer.from(JSON.stringify({ Message: 'hello', MessageId: 'm-1' }))
  const push = { method: 'POST', publicUrl: null, headers: {}, rawBody: body }
  const signed = await sns.sign?.(push, { id: 'own', secret }, NOW)
  if (signed === undefined) throw new Error('does not sign')
  expect(parseSnsMessage(signed.rawBody)).toMatchObject({ kind: 'message', type: 'Notification' })
  // Not by the key of the certificate at that place.
  expect(await sns.verify(arriving(signed), [], NOW, material)).toMatchObject({ cause: 'signature_mismatch' })
})
