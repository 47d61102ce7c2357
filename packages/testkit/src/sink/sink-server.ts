import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createSinkHandler } from './sink-handler.js'
import { createSinkLedger } from './sink-ledger.js'
import { PLAIN_SCRIPT, type SinkDoor, type SinkScript } from './sink-script.js'

/** The sink's public side: a TCP server whose door decides whether a connection reaches the HTTP server behind it. */
export async function listenSink(port: number) {
  const ledger = createSinkLedger()
  const stored = new Map()
  const numbers = new WeakMap<Socket, number>()
  const sockets = new Set<Socket>()
  let connections = 0
  let door: SinkDoor = 'open'
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const setScript = (script: Partial<SinkScript>) => {
    handle = createSinkHandler({ ...PLAIN_SCRIPT, ...script }, ledger, stored, (socket) => numbers.get(socket) ?? 0)
  }
  setScript({})
  const http = createHttpServer(
    { keepAliveTimeout: 60_000, requestTimeout: 0, headersTimeout: 0 },
    (request, response) => handle(request, response),
  )
  http.on('clientError', (_error, socket) => socket.destroy())
  const tcp: Server = createServer({ noDelay: true }, (socket) => {
    connections += 1
    numbers.set(socket, connections)
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    if (door === 'reset') socket.resetAndDestroy()
    else if (door === 'mute') socket.pause()
    else http.emit('connection', socket)
  })
  await listen(tcp, port)
  const ownPort = (tcp.address() as AddressInfo).port
  return {
    port: ownPort,
    setScript,
    /** Open connections stay as they are, except that `refuse` and `reset` close them. */
    setDoor: async (next: SinkDoor) => {
      const wasListening = door !== 'refuse'
      door = next
      if (next === 'refuse' || next === 'reset') for (const socket of sockets) socket.resetAndDestroy()
      if (next === 'refuse' && wasListening) await new Promise((resolve) => tcp.close(resolve))
      if (next !== 'refuse' && !wasListening) await listen(tcp, ownPort)
    },
    ledger,
    summarise: () => ledger.summarise(connections),
    clear: () => {
      ledger.clear()
      stored.clear()
    },
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', 1_024, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
