import type { LookupFunction } from 'node:net'
import type { DestinationContract, LeasedEntry, Sent } from '@counterfoil/core'
import { Pool } from 'undici'
import { createGuardedConnector } from './egress.js'
import { Exchange } from './exchange.js'
import { createFixedHeaders, formatKey } from './request-headers.js'

/** One destination's way out: as many sockets as slots, no redirects, no retries, nothing pipelined. */
export type Downstream = {
  /** Facts of one try. Never rejects and never throws for anything the network does. */
  send(leased: LeasedEntry, sendBefore: number): Promise<Sent>
  /** Ends every exchange now; each reports by what had left. */
  giveUp(): void
  /** Destroys the sockets. */
  close(): Promise<void>
}

/** Response headers that classification reads, beside the replay markers of the destination. */
const READ_HEADERS = [
  'retry-after',
  'date',
  'content-type',
  'ratelimit-reset',
  'x-ratelimit-reset',
  'stripe-should-retry',
  'transient-error',
]

/** Opens the way to a destination; nothing is connected before the first send. */
export function openDownstream(contract: DestinationContract, lookup?: LookupFunction): Downstream {
  const url = new URL(contract.url)
  const pool = openPool(url, contract, lookup)
  const fixedHeaders = createFixedHeaders(contract)
  const keptHeaders = [...READ_HEADERS, ...contract.replayMarkers.map(({ header }) => header.toLowerCase())]
  const open = new Set<Exchange>()

  function send(leased: LeasedEntry, sendBefore: number): Promise<Sent> {
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
          path: url.pathname + url.search,
          headers: [...fixedHeaders(), 'content-type', leased.contentType, ...keyHeader(contract, leased)],
          body: leased.body,
          idempotent: false,
        },
        exchange,
      )
    })
  }

  return {
    send,
    giveUp: () => {
      for (const exchange of open) exchange.giveUp('ERR_COUNTERFOIL_STOPPING')
    },
    close: () => pool.destroy(),
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

function keyHeader(contract: DestinationContract, leased: LeasedEntry): string[] {
  if (contract.idempotency.kind === 'none') return []
  return [contract.idempotency.header, formatKey(leased.idempotencyKey, contract.idempotency.quoted)]
}
