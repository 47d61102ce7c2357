import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { isFormType, readContentType } from './decode-body.js'
import { type HeaderGrammar, readSignatures } from './header-grammar.js'
import { isAmong, matchKeyBy } from './match-key.js'
import { parseForm } from './parse-form.js'
import type { UnsignedPush } from './scheme.js'
import type { PromptScheme } from './signed-headers-scheme.js'
import { listTwilioUrls } from './twilio-urls.js'
import { type Refusal, refuse, unavailable } from './verification.js'

const HEADER = 'x-twilio-signature'
const BODY_HASH = 'bodySHA256'
const GRAMMAR: HeaderGrammar = { kind: 'single', prefix: '' }
const SHA1 = { encoding: 'base64', bytes: 20 } as const
const HEX_SHA256 = /^[0-9a-f]{64}$/i

/**
 * HMAC-SHA-1 over the URL and, for a form, over its decoded fields: names in order, each with its values. Any other body
 * is covered by its SHA-256 in the URL. Which spelling of the URL was signed differs between Twilio's products, so
 * four are tried. Two forms with the same names and values are the same to this signature, however they are written.
 */
export function createTwilioScheme(): PromptScheme {
  return {
    family: 'twilio',
    verify: (request, keys, now) => {
      const given = readSignatures(request.headers, HEADER, GRAMMAR, SHA1)
      if (given.kind === 'refused') return given
      if (request.publicUrl === null) {
        return unavailable('public_url_missing', 'the signature covers the URL, and this source has no publicUrl')
      }
      const fields = readSignedFields(readContentType(request.headers), request.query, request.rawBody)
      if (fields.kind === 'refused') return fields
      const texts = listTwilioUrls(request.publicUrl).map((url) => Buffer.from(url + fields.text))
      const matched = matchKeyBy(keys, now, given.signatures, ({ secret }) =>
        texts.map((text) => isAmong(createHmac('sha1', secret).update(text).digest(), given.signatures)).includes(true),
      )
      if (matched.kind !== 'matched') return matched
      return { kind: 'verified', keyId: matched.keyId, bodyBound: true, signedAt: null }
    },
    sign: (push, key) => {
      if (push.publicUrl === null) throw new TypeError('Twilio signs the URL, so it needs one')
      const hashed = withBodyHash(push, push.publicUrl)
      const query = hashed.includes('?') ? hashed.slice(hashed.indexOf('?')) : ''
      const fields = readSignedFields(push.headers['content-type'] ?? null, query, push.rawBody)
      if (fields.kind === 'refused') throw new TypeError(fields.hint)
      const signature = createHmac('sha1', key.secret)
        .update(hashed + fields.text)
        .digest('base64')
      return { ...push, publicUrl: hashed, headers: { ...push.headers, [HEADER]: signature } }
    },
    binds: { body: true, id: false, time: false, url: true },
    toleranceMs: null,
    needsPublicUrl: true,
    keyEncoding: 'utf8',
  }
}

type SignedFields = { readonly kind: 'fields'; readonly text: string }

/** What of the body is signed as text; a body that is covered by no signature at all is refused. */
function readSignedFields(contentType: string | null, query: string, rawBody: Buffer): SignedFields | Refusal {
  const hashes = new URLSearchParams(query).getAll(BODY_HASH)
  if (hashes.length > 1) return refuse('body_hash_mismatch', `the query has ${BODY_HASH} ${hashes.length} times`)
  const [hash] = hashes
  if (hash !== undefined) return checkBodyHash(hash, rawBody)
  if (rawBody.length === 0) return { kind: 'fields', text: '' }
  if (!isFormType(contentType)) {
    return refuse('body_hash_missing', `the body is no form, and the query has no ${BODY_HASH}`)
  }
  return joinFields(rawBody)
}

function checkBodyHash(hash: string, rawBody: Buffer): SignedFields | Refusal {
  const digest = createHash('sha256').update(rawBody).digest()
  if (HEX_SHA256.test(hash) && timingSafeEqual(Buffer.from(hash, 'hex'), digest)) return { kind: 'fields', text: '' }
  return refuse('body_hash_mismatch', `${BODY_HASH} of the query is not the hash of the body`)
}

/** `a&b` would sign the same text as `a=b`, so a field without `=` is refused; Twilio writes none. */
function joinFields(rawBody: Buffer): SignedFields | Refusal {
  const form = parseForm(rawBody)
  if (form.kind === 'malformed') return refuse('envelope_malformed', form.hint)
  const bare = rawBody
    .toString('latin1')
    .split('&')
    .some((field) => field !== '' && !field.includes('='))
  if (bare) return refuse('envelope_malformed', 'the form has a field without a value')
  const text = [...form.fields.keys()]
    .sort()
    .map((name) =>
      [...new Set(form.fields.get(name))]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('')
  return { kind: 'fields', text }
}

function withBodyHash(push: UnsignedPush, publicUrl: string): string {
  if (push.rawBody.length === 0 || isFormType(push.headers['content-type'] ?? null)) return publicUrl
  const hash = createHash('sha256').update(push.rawBody).digest('hex')
  return `${publicUrl}${publicUrl.includes('?') ? '&' : '?'}${BODY_HASH}=${hash}`
}
