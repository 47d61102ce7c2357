import { createHash } from 'node:crypto'
import { matchKey } from './match-key.js'
import type { PushRequest } from './push-request.js'
import type { UnsignedPush } from './scheme.js'
import type { PromptScheme } from './signed-headers-scheme.js'
import { type Refusal, refuse } from './verification.js'

/** Where a sender puts the token that it was given. */
export type TokenPlace =
  /** After an optional prefix such as `Bearer `. */
  | { readonly kind: 'header'; readonly header: string; readonly prefix?: string }
  | { readonly kind: 'query'; readonly parameter: string }
  /** HTTP Basic; the secret is `user:password`. */
  | { readonly kind: 'basic' }

const MAX_CHARACTERS = 4096
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * A secret that every push carries as it is. It says who sent a push and nothing about its content, time or id; who has
 * seen one push can send any other. Both sides are hashed, so that neither length nor content shows in the time.
 */
export function createStaticTokenScheme(place: TokenPlace): PromptScheme {
  return {
    family: 'static_token',
    verify: (request, keys, now) => {
      const given = readToken(request, place)
      if (given.kind === 'refused') return given
      const matched = matchKey(keys, now, [sha256(given.bytes)], (key) => sha256(key.secret))
      if (matched.kind === 'refused') return refuse('token_mismatch', 'the token is none of the active keys')
      if (matched.kind === 'unavailable') return matched
      return { kind: 'verified', keyId: matched.keyId, bodyBound: false, signedAt: null }
    },
    sign: (push, key) => writeToken(push, place, key.secret),
    binds: { body: false, id: false, time: false, url: false },
    toleranceMs: null,
    needsPublicUrl: false,
    keyEncoding: 'utf8',
  }
}

type GivenToken = { readonly kind: 'token'; readonly bytes: Buffer }

function readToken(request: PushRequest, place: TokenPlace): GivenToken | Refusal {
  switch (place.kind) {
    case 'header':
      return readFromHeader(request.headers, place.header.toLowerCase(), place.prefix ?? '')
    case 'query':
      return readFromQuery(request.query, place.parameter)
    case 'basic': {
      const read = readFromHeader(request.headers, 'authorization', 'Basic ')
      if (read.kind === 'refused') return read
      const text = read.bytes.toString('latin1')
      const bytes = BASE64.test(text) ? Buffer.from(text, 'base64') : null
      return bytes !== null && bytes.toString('base64') === text
        ? { kind: 'token', bytes }
        : refuse('token_malformed', 'header authorization is not base64 after Basic')
    }
  }
}

/** The name of an authentication scheme is written in any case (RFC 9110); a prefix of another kind ends in no space. */
function readFromHeader(headers: PushRequest['headers'], header: string, prefix: string): GivenToken | Refusal {
  const values = headers.get(header)
  const value = values?.[0]
  if (values === undefined || value === undefined || value === '') {
    return refuse('token_missing', `header ${header} is absent or empty`)
  }
  if (values.length > 1) return refuse('token_repeated', `header ${header} came ${values.length} times`)
  if (value.length > MAX_CHARACTERS) return refuse('token_malformed', `header ${header} is too long`)
  const start = value.slice(0, prefix.length)
  const fits = prefix.endsWith(' ') ? start.toLowerCase() === prefix.toLowerCase() : start === prefix
  if (!fits) return refuse('token_malformed', `header ${header} does not start with ${prefix}`)
  return { kind: 'token', bytes: Buffer.from(value.slice(prefix.length), 'latin1') }
}

function readFromQuery(query: string, parameter: string): GivenToken | Refusal {
  if (query.length > MAX_CHARACTERS) return refuse('token_malformed', 'the query is too long')
  const values = new URLSearchParams(query).getAll(parameter)
  const value = values[0]
  if (value === undefined || value === '') {
    return refuse('token_missing', `the query has no parameter ${parameter}`)
  }
  if (values.length > 1) return refuse('token_repeated', `the query has parameter ${parameter} ${values.length} times`)
  return { kind: 'token', bytes: Buffer.from(value) }
}

function writeToken(push: UnsignedPush, place: TokenPlace, secret: Buffer): UnsignedPush {
  const withHeader = (name: string, value: string) => ({ ...push, headers: { ...push.headers, [name]: value } })
  switch (place.kind) {
    case 'header':
      return withHeader(place.header.toLowerCase(), `${place.prefix ?? ''}${secret.toString('latin1')}`)
    case 'basic':
      return withHeader('authorization', `Basic ${secret.toString('base64')}`)
    case 'query': {
      if (push.publicUrl === null) throw new TypeError('a token in the query needs a URL to stand in')
      const url = new URL(push.publicUrl)
      url.searchParams.set(place.parameter, secret.toString('utf8'))
      return { ...push, publicUrl: url.href }
    }
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
