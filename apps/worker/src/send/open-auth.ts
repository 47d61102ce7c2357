import type { LookupFunction } from 'node:net'
import type { DestinationContract, OAuth2Auth, Sent } from '@counterfoil/core'
import { Pool } from 'undici'
import { createGuardedConnector } from './egress.js'
import { fetchToken } from './fetch-token.js'
import { type Signable, signRequest } from './sign-request.js'
import { createTokenSource } from './token-source.js'

/** How one destination's requests get their credentials. */
export type OpenAuth = {
  /** Sends with credentials made for this request; with a token that is refused, once more with a new one. */
  send(signable: Signable, exchange: (headers: readonly string[]) => Promise<Sent>): Promise<Sent>
  /** Nobody waits for a token any more. */
  giveUp(): void
  close(): Promise<void>
}

/** `null` where a destination wants no credentials beside its fixed headers. */
export function openAuth(contract: DestinationContract, lookup?: LookupFunction): OpenAuth | null {
  const { auth } = contract
  if (auth === null) return null
  if (auth.kind === 'oauth2') return openOAuth2(auth, contract, lookup)
  return {
    send: (signable, exchange) => exchange(signRequest(auth, signable, Date.now())),
    giveUp: () => {},
    close: async () => {},
  }
}

function openOAuth2(auth: OAuth2Auth, contract: DestinationContract, lookup: LookupFunction | undefined): OpenAuth {
  const { connectMs, headersMs } = contract.timeouts
  // Its address is judged like the destination's own; its certificate by the public authorities.
  const pool = new Pool(new URL(auth.tokenUrl).origin, {
    connections: 1,
    allowH2: false,
    headersTimeout: headersMs,
    bodyTimeout: headersMs,
    connect: createGuardedConnector({ ...pickEgress(contract), tls: null }, lookup),
  })
  const now = () => performance.now()
  const tokens = createTokenSource(() => fetchToken(auth, pool, connectMs + headersMs), now)
  let isGivenUp = false

  async function send(exchange: (headers: readonly string[]) => Promise<Sent>, startedAt: number): Promise<Sent> {
    const got = await tokens.get()
    if (isGivenUp) return unsent('ERR_COUNTERFOIL_STOPPING', 'the worker stopped before there was a token', startedAt)
    if (got.kind === 'failed') return unsent('ERR_COUNTERFOIL_TOKEN', got.why, startedAt)
    const sent = await exchange(bearer(got.held.token))
    if (sent.kind !== 'answered' || sent.status !== 401) return sent
    tokens.drop(got.held)
    if (got.isFresh || isGivenUp) return sent
    const next = await tokens.get()
    if (next.kind === 'failed') return sent
    const again = await exchange(bearer(next.held.token))
    // The first answer stands where the second request never left: it is what the destination said.
    return again.kind === 'failed' && again.headersHandedOver === false ? sent : again
  }

  return {
    send: (_signable, exchange) => send(exchange, now()),
    giveUp: () => {
      isGivenUp = true
      // Whoever waits for a token is told by its failure.
      pool.destroy().catch(() => {})
    },
    close: () => (pool.destroyed ? Promise.resolve() : pool.destroy()),
  }
}

function pickEgress({ timeouts, allowPrivate }: DestinationContract) {
  return { timeouts, allowPrivate }
}

function bearer(token: string): readonly string[] {
  return ['authorization', `Bearer ${token}`]
}

function unsent(code: string, message: string, startedAt: number): Sent {
  const durationMs = Math.round(performance.now() - startedAt)
  return { kind: 'failed', code, message, headersHandedOver: false, step: 'connect', durationMs }
}
