import type { PushRequest } from '../intake/push-request.js'
import type { Variation } from './variation.js'

const PARTS = /^(https?):\/\/([^/?#]+)([^?#]*)(\?[^#]*)?/i
const PORT = /:\d{1,5}$/
const HOST = /^[A-Za-z0-9.:[\]_-]{1,260}$/
const NEXT =
  'make publicUrl (or --url) exactly the URL that the sender was given: it signs that text, whatever a proxy makes of it'

/**
 * The URLs that the sender may have been given. Cut and joined as text, never normalised.
 * @param target the request target of the capture: its path counts where a proxy changed it
 */
export function listUrlReadings(request: PushRequest, target: string): readonly Variation[] {
  const match = PARTS.exec(request.publicUrl ?? '')
  if (request.publicUrl === null || match === null) return []
  const [, , authority = '', path = '', query = ''] = match
  const urls = ['https', 'http'].flatMap((scheme) =>
    listAuthorities(request, authority, scheme, target).flatMap((host) =>
      listPaths(path, target).flatMap((name) =>
        [query, ''].map((text) => ({
          url: `${scheme}://${host}${name}${text}`,
          shown: `${scheme}://${host}${name}`,
          text,
        })),
      ),
    ),
  )
  const seen = new Set([request.publicUrl])
  return urls.flatMap(({ url, shown, text }) => {
    if (seen.has(url)) return []
    seen.add(url)
    // A query may hold a token or a person's data, so it is told and not shown.
    const told = query === '' ? '' : text === '' ? ' without a query' : ' with the query of the request'
    return [
      {
        part: 'url' as const,
        code: 'url_other',
        words: `it were judged as pushed to ${shown}${told}`,
        next: NEXT,
        apply: (subject) => ({ ...subject, request: { ...subject.request, publicUrl: url } }),
      },
    ]
  })
}

function listAuthorities(request: PushRequest, authority: string, scheme: string, target: string): readonly string[] {
  const bare = authority.replace(PORT, '')
  const named = [...(request.headers.get('x-forwarded-host') ?? []), ...(request.headers.get('host') ?? [])]
  const inTarget = PARTS.exec(target)?.[2]
  const others = [...named, ...(inTarget === undefined ? [] : [inTarget])].filter((name) => HOST.test(name))
  const defaultPort = scheme === 'https' ? ':443' : ':80'
  return [
    ...new Set([authority, bare, `${bare}${defaultPort}`, ...others, ...others.map((name) => name.replace(PORT, ''))]),
  ]
}

function listPaths(path: string, target: string): readonly string[] {
  const raw = /^https?:/i.test(target) ? (PARTS.exec(target)?.[3] ?? '') : target.replace(/[?#].*$/s, '')
  const paths = [path, ...(raw.startsWith('/') ? [raw] : [])]
  return [...new Set(paths.flatMap((name) => [name, name.endsWith('/') ? name.slice(0, -1) : `${name}/`]))]
}
