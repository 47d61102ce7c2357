import type { IncomingMessage } from 'node:http'
import { type PushRequest, readQuery, resolvePublicUrl, type SourceContract } from '@counterfoil/core'

/**
 * The request as a verifier sees it: every header value in wire order, and the bytes.
 *
 * @param url the request target as it came
 */
export function toPushRequest(
  request: IncomingMessage,
  url: string,
  source: SourceContract,
  rawBody: Buffer,
): PushRequest {
  const query = readQuery(url)
  return {
    method: request.method ?? 'POST',
    publicUrl: resolvePublicUrl(source.publicUrl, query),
    query,
    headers: readHeaders(request.rawHeaders),
    rawBody,
  }
}

/** From the raw list: Node's own `headers` object joins or drops repeated ones, and a repeated signature must show. */
function readHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>()
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    const value = raw[index + 1] ?? ''
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return headers
}
