import type { Handshake } from '@counterfoil/core'
import type { Preset, PresetNote } from '../preset.js'
import { isSnsSubscribeUrl } from '../sns-addresses.js'
import { createSnsScheme } from '../sns-scheme.js'
import { definePreset, KEPT_HERE } from './define-preset.js'
import { pointer } from './places.js'
import { readText } from './read-text.js'

export type SnsPresetOptions = {
  /** Any AWS account can have its messages signed, so only these topics count. */
  readonly topicArns: readonly string[]
  /** Signature version 1 is SHA-1. Better: set the topic's SignatureVersion to 2. Default false. */
  readonly allowSha1?: boolean
}

const TOPIC = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/

/** The topic was judged with the signature, which covers the link. */
const subscription: Handshake = {
  when: 'after_verification',
  methods: ['POST'],
  answer: ({ document }) => {
    const type = readText(document, 'Type')
    if (type === 'UnsubscribeConfirmation') {
      return { name: 'unsubscribe_confirmation', status: 200, headers: {}, body: null }
    }
    if (type !== 'SubscriptionConfirmation') return null
    const url = readText(document, 'SubscribeURL')
    const name = 'subscription_confirmation'
    return url !== null && isSnsSubscribeUrl(url)
      ? { name, status: 200, headers: {}, body: null, confirm: { url } }
      : { name, status: 403, headers: {}, body: null }
  },
}

/** SNS takes a 4xx as "delivered", so nothing that we might still want is answered with one. */
export function sns(options: SnsPresetOptions): Preset {
  const { topicArns = [], allowSha1 = false } = options ?? {}
  return definePreset({
    name: 'sns',
    scheme: createSnsScheme({ topicArns, allowSha1 }),
    decode: 'sns_wrapped',
    handshakes: [subscription],
    deliveryId: pointer('/MessageId'),
    eventTime: pointer('/Timestamp'),
    volatilePointers: ['/Signature', '/SignatureVersion', '/SigningCertURL', '/UnsubscribeURL'],
    // A 415 would count as delivered. A 503 is tried again and then goes to the dead-letter queue, where there is one.
    answers: { unverified: { status: 403 }, encoded: { status: 503 } },
    horizonDays: 7,
    ack: { ...KEPT_HERE, status: 200, timeoutS: 15 },
    notes: noteTopics(topicArns, allowSha1),
  })
}

function noteTopics(topicArns: readonly string[], allowSha1: boolean): readonly PresetNote[] {
  const notes: PresetNote[] = []
  if (topicArns.length === 0 || !topicArns.every((arn) => TOPIC.test(arn))) {
    const message =
      'needs the ARNs of the topics that may push, such as arn:aws:sns:eu-west-1:123456789012:orders: any AWS account can have its own messages signed'
    notes.push({ severity: 'error', option: 'preset.topicArns', message })
  }
  if (allowSha1) {
    const message = 'takes SHA-1 signatures; set SignatureVersion 2 at the topic and leave this out'
    notes.push({ severity: 'warning', option: 'preset.allowSha1', message })
  }
  return notes
}
