import type { TokenReading } from './read-token.js'

export type HeldToken = { readonly token: string; readonly expiresAt: number }
export type TokenResult =
  /** `isFresh`: fetched for this very request, so that a 401 has nothing left to try. */
  | { readonly kind: 'token'; readonly held: HeldToken; readonly isFresh: boolean }
  | { readonly kind: 'failed'; readonly why: string }

export type TokenSource = {
  /** At once while a token is held; else all who ask share one request. Never rejects. */
  get(): TokenResult | Promise<TokenResult>
  /** The destination refused this token: it is not used again. One that has replaced it stays. */
  drop(held: HeldToken): void
}

/** Not used for the last part of its life: a request has to arrive while it is still good. */
const SPARE_MS = 30_000
const SPARE_SHARE = 0.2
/** A token whose life nobody told is asked for anew after this. */
const UNTOLD_LIFE_MS = 300_000
/** After a failure everybody is told the same for this long, so that a backlog doesn't storm a token endpoint. */
const COOL_DOWN_MS = 1_000

/**
 * One token for all requests of a destination, kept in this process only.
 *
 * @param now monotonic ms
 */
export function createTokenSource(fetchOne: () => Promise<TokenReading>, now: () => number): TokenSource {
  let held: HeldToken | null = null
  let asking: Promise<TokenResult> | null = null
  let failure: { readonly result: TokenResult; readonly until: number } | null = null

  async function ask(): Promise<TokenResult> {
    const askedAt = now()
    const reading = await fetchOne()
    asking = null
    if (reading.kind === 'failed') {
      failure = { result: reading, until: now() + COOL_DOWN_MS }
      return reading
    }
    const livesMs = reading.livesMs ?? UNTOLD_LIFE_MS
    // Its life counts from before it was asked for: early rather than late.
    held = { token: reading.token, expiresAt: askedAt + livesMs - Math.min(SPARE_MS, livesMs * SPARE_SHARE) }
    return { kind: 'token', held, isFresh: true }
  }

  return {
    get: () => {
      if (held !== null && now() < held.expiresAt) return { kind: 'token', held, isFresh: false }
      if (failure !== null && now() < failure.until) return failure.result
      failure = null
      asking ??= ask()
      return asking
    },
    drop: (refused) => {
      if (held === refused) held = null
    },
  }
}
