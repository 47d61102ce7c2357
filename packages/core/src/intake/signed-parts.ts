import type { PushRequest } from './push-request.js'
import type { Binds } from './scheme.js'
import { type Refusal, refuse } from './verification.js'

/** A piece of what is signed. `body` are the raw bytes and come once at most. */
export type SignedPart = 'id' | 'method' | 'url' | 'timestamp' | 'body' | { readonly text: string }

/** Texts as Latin-1, the way that they came off the socket. */
export type SignedValues = {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly timestamp: string
}

export type CompiledParts = {
  readonly before: (values: SignedValues) => string
  readonly after: (values: SignedValues) => string
  readonly hasBody: boolean
  /** The text that ends the id: an id that contained it would leave open where the id ends. */
  readonly separatorAfterId: string | null
}

export function compileParts(parts: readonly SignedPart[]): CompiledParts {
  const bodyAt = parts.indexOf('body')
  if (bodyAt !== parts.lastIndexOf('body')) throw new TypeError('the body is signed once')
  const idAt = parts.indexOf('id')
  const next = idAt === -1 ? undefined : parts[idAt + 1]
  return {
    before: joinOf(bodyAt === -1 ? parts : parts.slice(0, bodyAt)),
    after: joinOf(bodyAt === -1 ? [] : parts.slice(bodyAt + 1)),
    hasBody: bodyAt !== -1,
    separatorAfterId: typeof next === 'object' && next.text !== '' ? next.text : null,
  }
}

export function bindsOf(parts: readonly SignedPart[]): Binds {
  return {
    body: parts.includes('body'),
    id: parts.includes('id'),
    time: parts.includes('timestamp'),
    url: parts.includes('url'),
  }
}

/** The id as it was signed; longer ones are no delivery id either. */
const MAX_ID_CHARACTERS = 1024

export function readSignedId(
  headers: PushRequest['headers'],
  header: string,
  separator: string | null,
): string | Refusal {
  const values = headers.get(header)
  const id = values?.[0]
  if (values === undefined || id === undefined || id === '') {
    return refuse('signed_id_missing', `header ${header} is absent or empty`)
  }
  if (values.length > 1) return refuse('signed_id_malformed', `header ${header} came ${values.length} times`)
  if (id.length > MAX_ID_CHARACTERS) return refuse('signed_id_malformed', `header ${header} is too long`)
  if (separator !== null && id.includes(separator)) {
    return refuse(
      'signed_id_malformed',
      `header ${header} contains "${separator}", which ends the id in what is signed`,
    )
  }
  return id
}

function joinOf(parts: readonly SignedPart[]): (values: SignedValues) => string {
  if (parts.length === 0) return () => ''
  return (values) => {
    let text = ''
    for (const part of parts) text += typeof part === 'object' ? part.text : part === 'body' ? '' : values[part]
    return text
  }
}
