import { randomUUID } from 'node:crypto'
import {
  buildLookup,
  type DestinationContract,
  type Found,
  judgeLookup,
  type LookupContract,
  type Sent,
  stillUnknown,
} from '@counterfoil/core'
import type { AskedLookup } from '@counterfoil/db'
import { Pool } from 'undici'
import { createGuardedConnector } from '../send/egress.js'
import { Exchange } from '../send/exchange.js'
import { openAuth } from '../send/open-auth.js'
import { createFixedHeaders } from '../send/request-headers.js'

/** What judging an answer reads beside its status and body. */
const KEPT_HEADERS = { ofSuccess: ['retry-after', 'date'], ofOthers: ['retry-after', 'date'] }

/** One destination's way to be asked: the egress rules, credentials, headers, time-outs and caps of its sends, and no keys. */
export type Lookups = {
  /** What the destination says about one entry. Never rejects for anything the network does. */
  ask(asked: AskedLookup): Promise<Found>
  /** Ends every question now; each is still unknown. */
  giveUp(): void
  close(): Promise<void>
}

export type AskableContract = DestinationContract & { readonly lookup: LookupContract }

/** On top of the total time-out: a question that had to wait for a socket longer than this doesn't leave any more. */
const LEAVE_WITHIN_MS = 10_000
/** And this to write the answer down. */
const RECORD_WITHIN_MS = 10_000

/** How long a question may take from its record to its finding, ms. */
export function lookupLeaseMs(contract: DestinationContract): number {
  return LEAVE_WITHIN_MS + contract.timeouts.totalMs + RECORD_WITHIN_MS
}

export function isAskable(contract: DestinationContract | undefined): contract is AskableContract {
  return contract?.lookup !== undefined
}

/** Opens the way to ask a destination; nothing is connected before the first question. */
export function openLookups(contract: AskableContract): Lookups {
  const { lookup } = contract
  const pool = new Pool(new URL(contract.url).origin, {
    connections: lookup.concurrency,
    // Questions are rare: one request, one socket, and nothing idle to go stale.
    pipelining: 0,
    allowH2: false,
    headersTimeout: contract.timeouts.headersMs,
    bodyTimeout: contract.timeouts.bodyMs,
    connect: createGuardedConnector(contract),
  })
  const auth = openAuth(contract)
  const fixedHeaders = createFixedHeaders(contract)
  const open = new Set<Exchange>()

  function send(method: 'GET' | 'POST', path: string, body: Buffer | null): Promise<Sent> {
    const exchange = (authHeaders: readonly string[]) => exchangeOnce(method, path, body, authHeaders)
    // Signed under an id of its own: the business key would make it look like the action.
    return auth === null
      ? exchange([])
      : auth.send({ idempotencyKey: randomUUID(), body: body ?? Buffer.alloc(0) }, exchange)
  }

  function exchangeOnce(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | null,
    authHeaders: readonly string[],
  ): Promise<Sent> {
    return new Promise((resolve) => {
      const exchange = new Exchange({
        totalMs: contract.timeouts.totalMs,
        capBytes: contract.responseCapBytes,
        sendBefore: performance.now() + LEAVE_WITHIN_MS,
        keptHeaders: KEPT_HEADERS,
        onEnd: (sent) => {
          open.delete(exchange)
          resolve(sent)
        },
      })
      open.add(exchange)
      const type = body === null ? [] : ['content-type', 'application/json']
      pool.dispatch(
        {
          method,
          path,
          headers: [...fixedHeaders(), 'accept', 'application/json', ...type, ...authHeaders],
          body,
          idempotent: false,
        },
        exchange,
      )
    })
  }

  return {
    ask: async ({ values, askedAt }) => {
      const startedAt = performance.now()
      const request = buildLookup(lookup, values)
      if (request.kind === 'unbuildable') return stillUnknown('unbuildable', { detail: request.why })
      const sent = await send(request.method, request.path, request.body)
      return judgeLookup(sent, lookup, values, askedAt + (performance.now() - startedAt))
    },
    giveUp: () => {
      auth?.giveUp()
      for (const exchange of open) exchange.giveUp('ERR_COUNTERFOIL_STOPPING')
    },
    close: async () => {
      await Promise.all([pool.destroy(), auth?.close()])
    },
  }
}
