import { parseJson, type Refusal, refuse } from '@counterfoil/core'

const SIGNED_FIELDS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const

export type SnsType = keyof typeof SIGNED_FIELDS

export type SnsMessage = {
  readonly kind: 'message'
  readonly type: SnsType
  /** The signed values by name; `Subject` may be absent. */
  readonly values: Readonly<Partial<Record<string, string>>>
  readonly signature: string
  readonly signatureVersion: string
  readonly signingCertUrl: string
}

/** An SNS envelope, whatever its content type says. A hint never repeats a value. */
export function parseSnsMessage(rawBody: Buffer): SnsMessage | Refusal {
  const parsed = parseJson(rawBody)
  const document = parsed.kind === 'parsed' ? parsed.value : null
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return refuse('envelope_malformed', 'the body is not a JSON object')
  }
  const read = (name: string) => readText(document, name)
  const type = read('Type')
  if (!isType(type)) return refuse('envelope_malformed', 'Type is none that SNS sends')
  const values: Partial<Record<string, string>> = Object.create(null)
  for (const name of SIGNED_FIELDS[type]) {
    const value = read(name)
    if (value !== null) values[name] = value
    else if (name !== 'Subject' || isPresent(document, name)) {
      return refuse('envelope_malformed', `${name} is absent or no text`)
    }
  }
  const [signature, signatureVersion, signingCertUrl] = [
    read('Signature'),
    read('SignatureVersion'),
    read('SigningCertURL'),
  ]
  if (signature === null || signatureVersion === null || signingCertUrl === null) {
    return refuse('signature_missing', 'Signature, SignatureVersion or SigningCertURL is absent')
  }
  return { kind: 'message', type, values, signature, signatureVersion, signingCertUrl }
}

/** The text that is signed: each field as name and value on lines of their own. */
export function snsSignedText(message: Pick<SnsMessage, 'type' | 'values'>): string {
  return SIGNED_FIELDS[message.type]
    .map((name) => ({ name, value: message.values[name] }))
    .filter(({ value }) => value !== undefined)
    .map(({ name, value }) => `${name}\n${value}\n`)
    .join('')
}

function isType(type: string | null): type is SnsType {
  return type !== null && Object.hasOwn(SIGNED_FIELDS, type)
}

function readText(document: object, name: string): string | null {
  const value: unknown = Object.hasOwn(document, name) ? document[name as keyof typeof document] : null
  return typeof value === 'string' ? value : null
}

/** SNS writes `null` for a subject that was never set. */
function isPresent(document: object, name: string): boolean {
  return Object.hasOwn(document, name) && document[name as keyof typeof document] !== null
}
