/**
 * The URL that a sender signed: the configured one, with the query that came. What a proxy or a stranger says about
 * host and scheme counts for nothing.
 * @param query with its `?`, or empty
 */
export function resolvePublicUrl(publicUrl: string | null, query: string): string | null {
  if (publicUrl === null) return null
  const configuredAt = publicUrl.indexOf('?')
  return (configuredAt === -1 ? publicUrl : publicUrl.slice(0, configuredAt)) + query
}

/** The query of a request target or URL, `?` included; empty when there is none. */
export function readQuery(target: string): string {
  const at = target.indexOf('?')
  return at === -1 ? '' : target.slice(at)
}
