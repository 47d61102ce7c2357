import { createServer, type Socket } from 'node:net'

/**
 * A destination that costs next to nothing, with a ledger of its own: raw sockets, one answer, keys counted. A real one
 * stands on another machine; here it would take its time from the two cores that worker and database share.
 * Control over IPC: `summary` answers what was seen, `exit` ends it.
 */
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}')
const seen = new Map<string, number>()
let requests = 0
let firstAt = 0
let lastAt = 0

function takeRequests(socket: Socket, text: string): string {
  let rest = text
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd < 0) return rest
    const head = rest.slice(0, headEnd)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (rest.length < headEnd + 4 + length) return rest
    note(/\r\nidempotency-key: ([^\r]+)/i.exec(head)?.[1] ?? '')
    socket.write(ANSWER)
    rest = rest.slice(headEnd + 4 + length)
  }
}

function note(key: string): void {
  requests += 1
  seen.set(key, (seen.get(key) ?? 0) + 1)
  lastAt = performance.now()
  if (firstAt === 0) firstAt = lastAt
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = ''
  // latin1: one character a byte, so that lengths are those of the wire.
  socket.on('data', (chunk) => {
    pending = takeRequests(socket, pending === '' ? chunk.toString('latin1') : pending + chunk.toString('latin1'))
  })
  socket.on('error', () => socket.destroy())
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 })
})

process.on('message', () => {
  process.send?.({ requests, distinctKeys: seen.size, seconds: (lastAt - firstAt) / 1000 })
})
process.once('disconnect', () => process.exit(0))
