import { decodeSignature, type SignatureEncoding } from './decode-signature.js'
import type { PushRequest } from './push-request.js'
import { type Refusal, refuse } from './verification.js'

/** How signatures stand in their header. */
export type HeaderGrammar =
  /** One signature, after a prefix such as `sha256=`. */
  | { readonly kind: 'single'; readonly prefix: string }
  /** `t=1,v1=ab,v1=cd`: named values; other names are skipped. */
  | {
      readonly kind: 'pairs'
      readonly separator: string
      readonly signature: string
      /** Name of the timestamp, where it is in here. */
      readonly timestamp: string | null
    }
  /** `v1,ab v1,cd`: a list of which only the entries with our prefix count. */
  | { readonly kind: 'list'; readonly separator: string; readonly prefix: string }

export type GivenSignatures = {
  readonly kind: 'given'
  readonly signatures: readonly Buffer[]
  /** The timestamp's text, where the grammar has one in this header. */
  readonly timestamp: string | null
}

/** Far above any real form; longer headers are refused before anything looks at them. */
const SINGLE_CAP = 512
const MANY_CAP = 4096
/** One a key, and a rotation has two: more would only be work for us. */
const MAX_SIGNATURES = 16

/**
 * All signatures of a header that have the right form. One that has not is skipped while another has, since senders put
 * several versions side by side; when none has, it is malformed. Hints never repeat what was sent.
 */
export function readSignatures(
  headers: PushRequest['headers'],
  header: string,
  grammar: HeaderGrammar,
  form: SignatureForm,
): GivenSignatures | Refusal {
  const values = headers.get(header)
  const value = values?.[0]
  if (values === undefined || value === undefined || value === '') {
    return refuse('signature_missing', `header ${header} is absent or empty`)
  }
  if (values.length > 1) return refuse('signature_repeated', `header ${header} came ${values.length} times`)
  if (value.length > (grammar.kind === 'single' ? SINGLE_CAP : MANY_CAP)) {
    return refuse('signature_malformed', `header ${header} is too long`)
  }
  if (grammar.kind === 'single') return readSingle(value, header, grammar.prefix, form)
  const listed = grammar.kind === 'list' ? listEntries(value, header, grammar) : listPairs(value, header, grammar)
  if (listed.kind === 'refused') return listed
  if (listed.texts.length > MAX_SIGNATURES) {
    return refuse('signature_malformed', `header ${header} has more than ${MAX_SIGNATURES} signatures`)
  }
  const signatures = listed.texts
    .map((text) => decodeSignature(text, form.encoding, form.bytes))
    .filter((bytes) => bytes !== null)
  return signatures.length === 0 ? malformed(header, form) : { kind: 'given', signatures, timestamp: listed.timestamp }
}

type SignatureForm = { readonly encoding: SignatureEncoding; readonly bytes: number }

function malformed(header: string, form: SignatureForm): Refusal {
  return refuse('signature_malformed', `header ${header} is not ${form.bytes} bytes of ${form.encoding}`)
}

/** The form that most senders have, without a list. */
function readSingle(value: string, header: string, prefix: string, form: SignatureForm): GivenSignatures | Refusal {
  if (!value.startsWith(prefix)) return refuse('signature_malformed', `header ${header} does not start with ${prefix}`)
  const signature = decodeSignature(value.slice(prefix.length), form.encoding, form.bytes)
  return signature === null ? malformed(header, form) : { kind: 'given', signatures: [signature], timestamp: null }
}

type Listed = { readonly kind: 'listed'; readonly texts: readonly string[]; readonly timestamp: string | null }

function listEntries(value: string, header: string, grammar: HeaderGrammar & { kind: 'list' }): Listed | Refusal {
  const texts = value
    .split(grammar.separator)
    .filter((entry) => entry.startsWith(grammar.prefix))
    .map((entry) => entry.slice(grammar.prefix.length))
  if (texts.length > 0) return { kind: 'listed', texts, timestamp: null }
  return refuse('signature_version_unknown', `header ${header} has no entry that starts with ${grammar.prefix}`)
}

function listPairs(value: string, header: string, grammar: HeaderGrammar & { kind: 'pairs' }): Listed | Refusal {
  const texts: string[] = []
  const timestamps: string[] = []
  let pairs = 0
  for (const entry of value.split(grammar.separator)) {
    const equals = entry.indexOf('=')
    if (equals <= 0) continue
    pairs += 1
    const name = entry.slice(0, equals)
    if (name === grammar.signature) texts.push(entry.slice(equals + 1))
    else if (name === grammar.timestamp) timestamps.push(entry.slice(equals + 1))
  }
  if (pairs === 0) return refuse('signature_malformed', `header ${header} has no name=value`)
  if (timestamps.length > 1) return refuse('timestamp_repeated', `header ${header} has ${timestamps.length} timestamps`)
  const timestamp = timestamps[0] ?? null
  if (grammar.timestamp !== null && (timestamp === null || timestamp === '')) {
    return refuse('timestamp_missing', `header ${header} has no ${grammar.timestamp}=`)
  }
  if (texts.length > 0) return { kind: 'listed', texts, timestamp }
  return refuse('signature_version_unknown', `header ${header} has no ${grammar.signature}=`)
}
