import type { IncomingMessage } from 'node:http'
import type { PushRequest, SourceContract } from '@counterfoil/core'

/**
 * The request as a verifier sees it: every header value in wire order, and the bytes. The public URL is the configured
 * one, with the query that came: what a proxy or a stranger says about host and scheme counts for nothing.
 *
 * @param url the request target as it came
 */
export function toPushRequest(
  request: IncomingMessage,
  url: string,
  source: SourceContract,
  rawBody: Buffer,
): PushRequest {
  const queryAt = url.indexOf('?')
  const query = queryAt === -1 ? '' : url.slice(queryAt)
  return {
    method: request.method ?? 'POST',
    publicUrl: source.publicUrl === null ? null : withQuery(source.publicUrl, query),
    query,
    headers: readHeaders(request.rawHeaders),
    rawBody,
  }
}

function withQuery(publicUrl: string, query: string): string {
  const configuredAt = publicUrl.indexOf('?')
  return (configuredAt === -1 ? publicUrl : publicUrl.slice(0, configuredAt)) + query
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
