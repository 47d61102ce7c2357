import type { PushRequest } from '../push-request.js'
import type { SignedPush } from '../scheme.js'

export type RequestParts = { readonly method?: string; readonly publicUrl?: string | null; readonly query?: string }

/** A request as a verifier sees it. Header names are made lower case, as the receiver does. */
export function request(
  headers: Readonly<Record<string, string | readonly string[]>>,
  rawBody: Buffer | string,
  parts: RequestParts = {},
): PushRequest {
  const entries = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), typeof value === 'string' ? [value] : value] as const,
  )
  const { method = 'POST', publicUrl = null } = parts
  const query = parts.query ?? (publicUrl?.includes('?') ? publicUrl.slice(publicUrl.indexOf('?')) : '')
  return { method, publicUrl, query, headers: new Map(entries), rawBody: Buffer.from(rawBody) }
}

/** What arrives when a signed push is sent. */
export function arriving(push: SignedPush): PushRequest {
  return request(push.headers, push.rawBody, { method: push.method, publicUrl: push.publicUrl })
}
