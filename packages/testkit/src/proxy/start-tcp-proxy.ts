import { connect, createServer, type Socket } from 'node:net'
import { joinSockets, type ProxiedConnection, type ProxyState } from './proxied-connection.js'
import type { TcpFault } from './tcp-fault.js'

export type TcpProxy = {
  readonly port: number
  /** The same connection string with the proxy's host and port in place of the target's. */
  readonly through: (url: string) => string
  /** Open connections. */
  readonly connections: () => number
  /** How many connections were accepted since the start. */
  readonly accepted: () => number
  /** Arms one fault for all connections, present and future; `null` disarms. */
  readonly arm: (fault: TcpFault | null) => void
  /** How often an armed fault has struck since the start. */
  readonly struck: () => number
  /** Closes all connections at once. New ones are still accepted. */
  readonly cut: () => void
  /** From now on new connections are closed at once, and open ones too: the target is gone. */
  readonly refuse: () => void
  /** Ends `refuse` and `pause`. */
  readonly restore: () => void
  /** Forwards nothing in either direction, and closes nothing: a half-open network. New connections hang as well. */
  readonly pause: () => void
  /** Delays every chunk in both directions; 0 ends it. */
  readonly delay: (ms: number) => void
  readonly close: () => Promise<void>
}

/** A TCP proxy in this process between something under test and its PostgreSQL, Redis or HTTP peer. */
export async function startTcpProxy(options: {
  readonly target: { readonly host?: string; readonly port: number }
}): Promise<TcpProxy> {
  const state: ProxyState = { fault: null, faultsLeft: 0, struck: 0, isPaused: false, delayMs: 0 }
  const open = new Set<ProxiedConnection>()
  let accepted = 0
  let isRefusing = false
  const cut = () => {
    for (const connection of open) connection.cut()
  }
  const refresh = () => {
    for (const connection of open) connection.refresh()
  }
  const server = createServer({ pauseOnConnect: true }, (client: Socket) => {
    client.on('error', () => {})
    accepted += 1
    if (isRefusing) {
      client.resetAndDestroy()
      return
    }
    const target = connect(options.target.port, options.target.host ?? '127.0.0.1')
    const connection = joinSockets(client, target, state)
    open.add(connection)
    client.once('close', () => open.delete(connection))
    if (!state.isPaused) client.resume()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    through: (url) => {
      const changed = new URL(url)
      changed.hostname = '127.0.0.1'
      changed.port = String(port)
      return changed.href
    },
    connections: () => open.size,
    accepted: () => accepted,
    arm: (fault) => {
      state.fault = fault
      state.faultsLeft = fault?.times ?? 1
    },
    struck: () => state.struck,
    cut,
    refuse: () => {
      isRefusing = true
      cut()
    },
    restore: () => {
      isRefusing = false
      state.isPaused = false
      refresh()
    },
    pause: () => {
      state.isPaused = true
      refresh()
    },
    delay: (ms) => {
      state.delayMs = ms
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
}
