import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

/** A downstream that speaks bytes, not HTTP: it can be as rude as the network. */
export type Peer = {
  readonly port: number
  readonly url: string
  /** Bytes of requests that reached the application, over all connections. */
  readonly bytes: () => number
  readonly connections: () => number
  readonly openNow: () => number
  readonly close: () => Promise<void>
}

export type PeerScript = {
  readonly onConnection?: (socket: Socket, connection: number) => void
  /** Called once for each complete request (its head and its body are in). */
  readonly onRequest?: (socket: Socket, connection: number) => void
  readonly tls?: TlsOptions
}

export async function startPeer(script: PeerScript): Promise<Peer> {
  let bytes = 0
  let connections = 0
  const open = new Set<Socket>()
  const serve = (socket: Socket) => {
    connections += 1
    const connection = connections
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    script.onConnection?.(socket, connection)
    const isComplete = createRequestWatch()
    socket.on('data', (chunk) => {
      bytes += chunk.length
      if (isComplete(chunk)) script.onRequest?.(socket, connection)
    })
  }
  const server: Server = script.tls === undefined ? createServer(serve) : createTlsServer(script.tls, serve)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const scheme = script.tls === undefined ? 'http' : 'https'
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/hook?source=test`,
    bytes: () => bytes,
    connections: () => connections,
    openNow: () => open.size,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** True for the chunk that completes a request; then it waits for the next one. */
function createRequestWatch(): (chunk: Buffer) => boolean {
  let text = ''
  return (chunk) => {
    text += chunk.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) return false
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (text.length < end + 4 + length) return false
    text = ''
    return true
  }
}

export function answer(status: number, body = '', headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} Whatever`, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body]
  return lines.join('\r\n')
}
