import { listJsonMembers, skipSpace } from './json-members.js'
import type { Malformed } from './malformed.js'
import { malformed } from './malformed.js'
import { parseForm } from './parse-form.js'
import { type ParsedJson, parseJson } from './parse-json.js'
import type { PushRequest } from './push-request.js'
import { readHeader } from './read-value.js'

export type BodyForm =
  | 'json'
  /** `application/x-www-form-urlencoded`: an object of texts, a repeated name a list of them. */
  | 'form'
  /** A form whose only field `payload` holds JSON; with other fields it is a `form`. */
  | 'form_payload'
  /** Pub/Sub: JSON around base64. */
  | 'pubsub_wrapped'
  /** SNS: JSON around a text that often is JSON. */
  | 'sns_wrapped'
  /** CloudEvents in structured mode: JSON around `data`; any other content type is the data itself. */
  | 'cloud_event'
  /** The bytes are not looked into. */
  | 'none'

/** One form, or by content type where a sender has both. */
export type Decode =
  | BodyForm
  | { readonly whenForm: 'form' | 'form_payload'; readonly otherwise: Exclude<BodyForm, 'form' | 'form_payload'> }

export type DecodedBody = {
  readonly kind: 'decoded'
  /** What pointers of the contract look into. */
  readonly document: unknown
  /** What routes get: the same, or what was wrapped in it. */
  readonly payload: unknown
  /** The JSON bytes of `document` and of `payload`; `null` where there are none. */
  readonly documentJson: Buffer | null
  readonly payloadJson: Buffer | null
  readonly form: ReadonlyMap<string, readonly string[]> | null
}

const FORM = /^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i
const STRUCTURED = /^application\/cloudevents(?:-batch)?(?:\+json)?[ \t]*(?:;|$)/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const PAYLOAD_FIELD = 'payload'

/** The document in a body, without a throw. What can't be decoded says why, in words that show nothing of it. */
export function decodeBody(decode: Decode, contentType: string | null, raw: Buffer): DecodedBody | Malformed {
  switch (chooseForm(decode, contentType)) {
    case 'json':
      return decodeJson(raw)
    case 'form':
      return decodeForm(raw)
    case 'form_payload':
      return decodeFormPayload(raw)
    case 'pubsub_wrapped':
      return unwrap(raw, readPubSubData)
    case 'sns_wrapped':
      return unwrap(raw, readSnsMessage)
    case 'cloud_event':
      return contentType !== null && STRUCTURED.test(contentType) ? unwrap(raw, readCloudEventData) : decodeJson(raw)
    case 'none':
      return plain(undefined, null, null)
  }
}

/** The Content-Type as a text, or `null`. */
export function readContentType(headers: PushRequest['headers']): string | null {
  const read = readHeader(headers, 'content-type')
  return read.kind === 'found' ? String(read.value) : null
}

export function isFormType(contentType: string | null): boolean {
  return contentType !== null && FORM.test(contentType)
}

function chooseForm(decode: Decode, contentType: string | null): BodyForm {
  if (typeof decode === 'string') return decode
  return isFormType(contentType) ? decode.whenForm : decode.otherwise
}

function plain(document: unknown, json: Buffer | null, form: DecodedBody['form']): DecodedBody {
  return { kind: 'decoded', document, payload: document, documentJson: json, payloadJson: json, form }
}

function decodeJson(raw: Buffer): DecodedBody | Malformed {
  const parsed = parseJson(raw)
  return parsed.kind === 'parsed' ? plain(parsed.value, parsed.bytes, null) : describeInvalid(parsed, 'the body')
}

function decodeForm(raw: Buffer): DecodedBody | Malformed {
  const form = parseForm(raw)
  if (form.kind === 'malformed') return form
  return plain(form.document, null, form.fields)
}

function decodeFormPayload(raw: Buffer): DecodedBody | Malformed {
  const form = parseForm(raw)
  if (form.kind === 'malformed') return form
  const values = form.fields.get(PAYLOAD_FIELD)
  const only = form.fields.size === 1 && values?.length === 1 ? values[0] : undefined
  if (only === undefined) return plain(form.document, null, form.fields)
  const parsed = parseJson(Buffer.from(only))
  if (parsed.kind === 'invalid') return describeInvalid(parsed, `the form field ${PAYLOAD_FIELD}`)
  return plain(parsed.value, parsed.bytes, form.fields)
}

/** The envelope must be JSON; what is inside is JSON where it parses as such, else text, else `null`. */
function unwrap(raw: Buffer, read: (envelope: Readonly<Record<string, unknown>>) => Inner): DecodedBody | Malformed {
  const outer = decodeJson(raw)
  if (outer.kind === 'malformed' || typeof outer.document !== 'object' || outer.document === null) return outer
  if (Array.isArray(outer.document)) return outer
  const inner = read(outer.document as Readonly<Record<string, unknown>>)
  if (inner.kind === 'value') return { ...outer, payload: inner.value, payloadJson: null }
  if (inner.kind === 'member')
    return { ...outer, payload: inner.value, payloadJson: findJsonValue(outer.documentJson, inner.name) }
  const parsed = parseJson(inner.bytes)
  if (parsed.kind === 'parsed') return { ...outer, payload: parsed.value, payloadJson: parsed.bytes }
  const text = parsed.cause === 'body_not_utf8' ? null : inner.bytes.toString('utf8')
  return { ...outer, payload: text, payloadJson: null }
}

type Inner =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'value'; readonly value: unknown }
  /** A member of the envelope, of which the bytes are wanted, too. */
  | { readonly kind: 'member'; readonly name: string; readonly value: unknown }

function readPubSubData(envelope: Readonly<Record<string, unknown>>): Inner {
  const message = own(envelope, 'message')
  return readBase64(own(message, 'data'))
}

function readSnsMessage(envelope: Readonly<Record<string, unknown>>): Inner {
  const message = own(envelope, 'Message')
  return typeof message === 'string' ? { kind: 'bytes', bytes: Buffer.from(message) } : { kind: 'value', value: null }
}

function readCloudEventData(envelope: Readonly<Record<string, unknown>>): Inner {
  const encoded = own(envelope, 'data_base64')
  if (encoded !== undefined) return readBase64(encoded)
  return { kind: 'member', name: 'data', value: own(envelope, 'data') ?? null }
}

function readBase64(text: unknown): Inner {
  if (typeof text !== 'string' || !BASE64.test(text)) return { kind: 'value', value: null }
  return { kind: 'bytes', bytes: Buffer.from(text, 'base64') }
}

function findJsonValue(json: Buffer | null, name: string): Buffer | null {
  if (json === null) return null
  const member = listJsonMembers(json, skipSpace(json, 0))?.findLast(({ token }) => token === name)
  return member === undefined ? null : json.subarray(member.valueStart, member.end)
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

function describeInvalid(parsed: ParsedJson & { readonly kind: 'invalid' }, what: string): Malformed {
  if (parsed.cause === 'body_not_utf8') return malformed(parsed.cause, `${what} is not UTF-8`)
  if (parsed.cause === 'body_too_deep') return malformed(parsed.cause, `${what} is nested too deeply`)
  return malformed(parsed.cause, `${what} is not JSON; a form-encoding sender must be set to send 'application/json'`)
}
