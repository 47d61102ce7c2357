export type FetchedText =
  | { readonly kind: 'fetched'; readonly text: string }
  /** For the log: `http_404`, `too_large`, `timeout`, `network`, `not_https`. */
  | { readonly kind: 'failed'; readonly cause: string }

export type FetchText = (url: string, limits: FetchLimits) => Promise<FetchedText>

export type FetchLimits = { readonly timeoutMs: number; readonly maxBytes: number }

/**
 * A small document from a place that the configuration or a verifier has chosen. No redirects: they would lead past
 * that choice. HTTPS only, but for this machine itself. Never rejects.
 */
export const fetchText: FetchText = async (url, limits) => {
  if (!isPermitted(url)) return { kind: 'failed', cause: 'not_https' }
  try {
    const signal = AbortSignal.timeout(limits.timeoutMs)
    const response = await fetch(url, { redirect: 'error', signal, headers: { accept: '*/*' } })
    if (response.status !== 200) {
      await response.body?.cancel()
      return { kind: 'failed', cause: `http_${response.status}` }
    }
    const bytes = await readCapped(response, limits.maxBytes)
    return bytes === null ? { kind: 'failed', cause: 'too_large' } : { kind: 'fetched', text: bytes.toString('utf8') }
  } catch (error) {
    return { kind: 'failed', cause: error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'network' }
  }
}

function isPermitted(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname))
}

async function readCapped(response: Response, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of response.body ?? []) {
    total += chunk.length
    // Leaving the loop cancels the rest.
    if (total > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, total)
}
