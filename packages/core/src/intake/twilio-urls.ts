const PARTS = /^(https?:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?$/i
const DEFAULT_PORTS = new Map([
  ['https://', '443'],
  ['http://', '80'],
])
const PORT = /:\d{1,5}$/

/**
 * The spellings of one URL that Twilio may have signed: with and without a port, and with the query as it came or
 * written anew. The text is cut and joined, never normalised: a normalised URL would be one that nobody signed.
 */
export function listTwilioUrls(url: string): readonly string[] {
  const match = PARTS.exec(url)
  if (match === null) return [url]
  const [, scheme = '', authority = '', path = '', query = ''] = match
  const port = PORT.exec(authority)?.[0] ?? ''
  const host = authority.slice(0, authority.length - port.length)
  const defaultPort = `:${DEFAULT_PORTS.get(scheme.toLowerCase()) ?? ''}`
  const queries = [query, rewriteQuery(query)]
  const authorities = [host, host + (port === '' ? defaultPort : port)]
  return [...new Set(queries.flatMap((text) => authorities.map((name) => scheme + name + path + text)))]
}

/**
 * As a serialiser of the older kind writes it: decoded, and encoded again with `%20` and without escaping `!'()*`.
 * A query that does not decode is left as it is.
 */
function rewriteQuery(query: string): string {
  if (query.length < 2) return query
  try {
    const pairs = query
      .slice(1)
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=')
        const name = equals === -1 ? pair : pair.slice(0, equals)
        const value = equals === -1 ? '' : pair.slice(equals + 1)
        return `${rewrite(name)}=${rewrite(value)}`
      })
    return `?${pairs.join('&')}`
  } catch {
    return query
  }
}

function rewrite(text: string): string {
  return encodeURIComponent(decodeURIComponent(text.replaceAll('+', ' ')))
}
