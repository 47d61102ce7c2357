import { type PushRequest, type Refusal, refuse } from '@counterfoil/core'

/** Lower case. With a `scheme` such as `Bearer` the token stands after it; its case does not matter (RFC 9110). */
export type TokenHeader = { readonly header: string; readonly scheme: string | null }

/** Honest tokens have one or two kilobytes. */
const MAX_CHARACTERS = 8192
const COMPACT_JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

export function readBearer(
  headers: PushRequest['headers'],
  place: TokenHeader,
): { readonly kind: 'token'; readonly text: string } | Refusal {
  const { header, scheme } = place
  const values = headers.get(header)
  const value = values?.[0]
  if (values === undefined || value === undefined || value === '') {
    return refuse('token_missing', `header ${header} is absent or empty`)
  }
  if (values.length > 1) return refuse('token_repeated', `header ${header} came ${values.length} times`)
  if (value.length > MAX_CHARACTERS) return refuse('token_malformed', `header ${header} is too long`)
  const prefix = scheme === null ? '' : `${scheme} `
  if (value.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) {
    return refuse('token_malformed', `header ${header} does not start with ${scheme}`)
  }
  const text = value.slice(prefix.length)
  return COMPACT_JWT.test(text) && text.split('.').every(isCanonical)
    ? { kind: 'token', text }
    : refuse('token_malformed', `header ${header} holds no JWT`)
}

/** The last letter may hold bits that no byte has: another spelling of the same token, which no honest signer writes. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}
