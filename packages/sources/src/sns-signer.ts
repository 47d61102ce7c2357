import { createPrivateKey, sign as signText } from 'node:crypto'
import type { Sign } from '@counterfoil/core'
import { parseSnsMessage, snsSignedText } from './sns-message.js'
import type { SnsOptions } from './sns-scheme.js'

const TEST_CERTIFICATE_URL =
  'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00000000000000000000000000000000.pem'

/**
 * Signs an envelope with version 2. `key.secret` is a private RSA key as PEM; nobody but Amazon has one that a receiver
 * with fetched certificates believes, so this is for receivers that were given a certificate of their own.
 */
export function createSnsSigner(options: Pick<SnsOptions, 'topicArns'>): Sign {
  return (push, key, at) => {
    const given: unknown = JSON.parse(push.rawBody.toString('utf8'))
    if (typeof given !== 'object' || given === null) throw new TypeError('an SNS message is a JSON object')
    const envelope = {
      Type: 'Notification',
      TopicArn: options.topicArns[0],
      Timestamp: new Date(at).toISOString(),
      SigningCertURL: TEST_CERTIFICATE_URL,
      ...given,
      SignatureVersion: '2',
      Signature: '',
    }
    const message = parseSnsMessage(Buffer.from(JSON.stringify(envelope)))
    if (message.kind === 'refused') throw new TypeError(message.hint)
    const text = Buffer.from(snsSignedText(message))
    const signature = signText('RSA-SHA256', text, createPrivateKey(key.secret)).toString('base64')
    const headers = {
      'content-type': 'text/plain; charset=UTF-8',
      'x-amz-sns-message-type': message.type,
      'x-amz-sns-message-id': message.values.MessageId ?? '',
      'x-amz-sns-topic-arn': message.values.TopicArn ?? '',
      ...push.headers,
    }
    const rawBody = Buffer.from(JSON.stringify({ ...envelope, Signature: signature }))
    return { ...push, headers, rawBody }
  }
}
