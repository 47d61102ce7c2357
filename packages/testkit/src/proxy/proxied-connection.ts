import type { Socket } from 'node:net'
import type { TcpFault } from './tcp-fault.js'

/** What a connection reads of its proxy at every chunk: faults may be armed and paused at any time. */
export type ProxyState = {
  fault: TcpFault | null
  /** How often the armed fault may still strike. */
  faultsLeft: number
  /** How often any fault has struck. */
  struck: number
  isPaused: boolean
  delayMs: number
}

export type ProxiedConnection = {
  readonly cut: () => void
  /** Looks at the pause switch again. */
  readonly refresh: () => void
}

const WINDOW = 65_536

/** Joins the two sockets under the proxy's faults. */
export function joinSockets(client: Socket, target: Socket, state: ProxyState): ProxiedConnection {
  let armed: TcpFault | null = null
  let sent: Buffer = Buffer.alloc(0)
  let repliedBytes = 0
  let swallowed: Buffer | null = null

  const cut = () => {
    client.destroy()
    target.destroy()
  }
  const strike = () => {
    state.struck += 1
    state.faultsLeft -= 1
    if (state.faultsLeft <= 0) state.fault = null
  }
  const refreshFault = () => {
    if (armed === state.fault) return
    armed = state.fault
    sent = Buffer.alloc(0)
    repliedBytes = 0
  }
  const onRequest = (chunk: Buffer): boolean => {
    refreshFault()
    if (swallowed !== null || armed === null || armed.kind === 'cut_reply_after') return true
    sent = Buffer.concat([sent, chunk]).subarray(-WINDOW)
    if (!armed.when(sent)) return true
    const struckBy = armed
    sent = Buffer.alloc(0)
    strike()
    if (struckBy.kind === 'lose_request') {
      cut()
      return false
    }
    swallowed = Buffer.alloc(0)
    swallowing = struckBy
    return true
  }
  let swallowing: Extract<TcpFault, { kind: 'lose_reply' }> | null = null
  const onReply = (chunk: Buffer): boolean => {
    if (swallowed !== null) {
      swallowed = Buffer.concat([swallowed, chunk]).subarray(-WINDOW)
      const isComplete = swallowing?.isComplete?.(swallowed) ?? true
      if (isComplete && swallowing?.how === 'cut') cut()
      return false
    }
    refreshFault()
    if (armed?.kind !== 'cut_reply_after') return true
    const left = armed.bytes - repliedBytes
    repliedBytes += chunk.length
    if (chunk.length < left) return true
    client.write(chunk.subarray(0, left), () => cut())
    strike()
    return false
  }

  forward(client, target, state, onRequest)
  forward(target, client, state, onReply)
  return {
    cut,
    refresh: () => {
      for (const socket of [client, target]) {
        if (state.isPaused) socket.pause()
        else socket.resume()
      }
    },
  }
}

function forward(from: Socket, to: Socket, state: ProxyState, inspect: (chunk: Buffer) => boolean): void {
  const deliver = (chunk: Buffer) => {
    if (!inspect(chunk) || to.destroyed) return
    if (to.write(chunk)) return
    from.pause()
    to.once('drain', () => {
      if (!state.isPaused) from.resume()
    })
  }
  const later = (act: () => void) => {
    if (state.delayMs > 0) setTimeout(act, state.delayMs)
    else act()
  }
  from.setNoDelay(true)
  from.on('data', (chunk: Buffer) => later(() => deliver(chunk)))
  from.on('end', () => later(() => to.end()))
  from.on('error', () => to.destroy())
  from.on('close', () => later(() => to.destroy()))
  if (state.isPaused) from.pause()
}
