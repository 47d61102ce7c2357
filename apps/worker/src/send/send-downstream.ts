import type { LookupFunction } from 'node:net'
import type { DestinationContract, LeasedEntry, Sent } from '@counterfoil/core'
import { Pool } from 'undici'
import { createGuardedConnector } from './egress.js'
import { Exchange } from './exchange.js'
import { listKeptHeaders } from './kept-headers.js'
import { openAuth } from './open-auth.js'
import { createFixedHeaders, writeKeyHeader } from './request-headers.js'

/** One destination's way out: as many sockets as slots, no redirects, no retries, nothing pipelined. */
export type Downstream = {
  /** Facts of one try. Never rejects and never throws for anything the network does. */
  send(leased: LeasedEntry, sendBefore: number): Promise<Sent>
  /** Ends every exchange now; each reports by what had left. */
  giveUp(): void
  /** Destroys the sockets. */
  close(): Promise<void>
}

/** Opens the way to a destination; nothing is connected before the first send. */
export function openDownstream(contract: DestinationContract, lookup?: LookupFunction): Downstream {
  const url = new URL(contract.url)
  const path = url.pathname + url.search
  const pool = openPool(url, contract, lookup)
  const auth = openAuth(contract, lookup)
  const fixedHeaders = createFixedHeaders(contract)
  const keptHeaders = listKeptHeaders(contract)
  const open = new Set<Exchange>()

  function exchangeOnce(leased: LeasedEntry, sendBefore: number, authHeaders: readonly string[]): Promise<Sent> {
    return new Promise((resolve) => {
      const exchange = new Exchange({
        totalMs: contract.timeouts.totalMs,
        capBytes: contract.responseCapBytes,
        sendBefore,
        keptHeaders,
        onEnd: (sent) => {
          open.delete(exchange)
          resolve(sent)
        },
      })
      open.add(exchange)
      pool.dispatch(
        {
          method: contract.method,
          path,
          headers: [
            ...fixedHeaders(),
            'content-type',
            leased.contentType,
            ...writeKeyHeader(contract, leased.idempotencyKey),
            ...authHeaders,
          ],
          body: leased.body,
          idempotent: false,
        },
        exchange,
      )
    })
  }

  return {
    send: (leased, sendBefore) =>
      auth === null
        ? exchangeOnce(leased, sendBefore, [])
        : auth.send(leased, (headers) => exchangeOnce(leased, sendBefore, headers)),
    giveUp: () => {
      auth?.giveUp()
      for (const exchange of open) exchange.giveUp('ERR_COUNTERFOIL_STOPPING')
    },
    close: async () => {
      await Promise.all([pool.destroy(), auth?.close()])
    },
  }
}

function openPool(url: URL, contract: DestinationContract, lookup: LookupFunction | undefined): Pool {
  return new Pool(url.origin, {
    connections: contract.concurrency,
    // Without a key a socket that dies while it is reused is a doubt that nobody can resolve: one request, one socket.
    pipelining: contract.idempotency.kind === 'none' ? 0 : 1,
    allowH2: false,
    // Below the 5 s after which common servers close an idle socket.
    keepAliveTimeout: 4_000,
    headersTimeout: contract.timeouts.headersMs,
    bodyTimeout: contract.timeouts.bodyMs,
    connect: createGuardedConnector(contract, lookup),
  })
}
