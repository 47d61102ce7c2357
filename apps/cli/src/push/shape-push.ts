import { randomUUID } from 'node:crypto'
import { type DeliveryIdAt, parsePointer, readPointer, type SourceContract, type ValueAt } from '@counterfoil/core'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'

/** A push before it is signed: what a queue would keep and send again, byte for byte. */
export type ShapedPush = {
  readonly body: Buffer
  /** `null`: the source takes the body's digest as its id. */
  readonly deliveryId: string | null
  /** Everything but the signature and the attempt counter. */
  readonly headers: Readonly<Record<string, string>>
}

export type PushInput = {
  readonly body: Buffer
  readonly id: string | null
  readonly type: string | null
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

/** Puts id and event type where the source expects them: in a header, or in the body. Ends the command where it can't. */
export function shapePush(source: SourceContract, input: PushInput): ShapedPush {
  const headers: Record<string, string> = { 'content-type': input.contentType, ...input.headers }
  let body = input.body
  if (input.type !== null) {
    const at = source.eventType
    if (at === null || at.kind === 'fixed') throw usage(`${source.name} takes no event type from a push`)
    body = place(at, input.type, headers, body)
  }
  if (source.deliveryId.kind === 'body_digest') {
    if (input.id !== null) throw usage(`${source.name} has no delivery id: the digest of the body is its id`)
    return { body, deliveryId: null, headers }
  }
  const idAt = plainPlace(source.deliveryId)
  if (idAt === null) {
    if (input.id !== null) throw usage(`${source.name} makes its id of several values: put them into body and headers`)
    return { body, deliveryId: null, headers }
  }
  if (idAt.kind === 'header') {
    const given = input.id ?? input.headers[idAt.header.toLowerCase()] ?? randomUUID()
    headers[idAt.header.toLowerCase()] = given
    return { body, deliveryId: given, headers }
  }
  const present = readPointer(parseBody(body), idAt.pointer)
  const known = typeof present === 'string' || typeof present === 'number' ? String(present) : null
  const deliveryId = input.id ?? known
  if (deliveryId === null) {
    throw usage(`${source.name} takes its id from ${idAt.pointer} of the body, which has none: give --id`)
  }
  return {
    body: deliveryId === known ? body : place(idAt, deliveryId, headers, body),
    deliveryId,
    headers,
  }
}

type PlainPlace = ValueAt & { readonly kind: 'header' | 'pointer' }

/** Of several places the first; `null` where a value alone can't be put. */
function plainPlace(at: DeliveryIdAt): PlainPlace | null {
  if (at.kind === 'header' || at.kind === 'pointer') return at
  const first = at.kind === 'first_of' ? at.places[0] : undefined
  return first === undefined ? null : plainPlace(first)
}

function place(where: ValueAt, value: string, headers: Record<string, string>, body: Buffer): Buffer {
  const at = plainPlace(where)
  if (at === null) throw usage('the source takes it from a form; write it into the body')
  if (at.kind === 'header') {
    headers[at.header.toLowerCase()] = value
    return body
  }
  if (readPointer(parseBody(body), at.pointer) === value) return body
  return setAtPointer(body, at.pointer, value)
}

/** Writes the body anew with one text changed. Its own spelling is lost; the bytes that are pushed are the new ones. */
function setAtPointer(body: Buffer, pointer: string, value: string): Buffer {
  const document = parseBody(body)
  const tokens = parsePointer(pointer) ?? []
  const last = tokens.at(-1)
  const parent = tokens.length < 2 ? document : readPointer(document, pointer.slice(0, pointer.lastIndexOf('/')))
  if (last === undefined || typeof parent !== 'object' || parent === null || Array.isArray(parent)) {
    throw usage(`there is no place for ${pointer} in the body`)
  }
  Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true })
  return Buffer.from(JSON.stringify(document))
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw usage('the body is not JSON, and the source takes its id or type from it')
  }
}

function usage(what: string): CommandFailure {
  return new CommandFailure(EXIT.usage, what)
}
