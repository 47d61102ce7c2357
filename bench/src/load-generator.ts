import { createHmac, randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/**
 * A queue that pushes as fast as it gets acks, as a process of its own: `CLIENTS` connections, one push in flight on
 * each, `PUSHES` in all. It signs while it runs, as a real queue does, and prints one JSON line.
 *
 * Raw sockets: an HTTP client would cost more than the receiver that is measured (both share two cores).
 */
const port = Number(process.env.PORT)
const clients = Number(process.env.CLIENTS)
const total = Number(process.env.PUSHES)
const secret = process.env.SECRET ?? ''
const path = process.env.TARGET_PATH ?? '/'
const padding = 'x'.repeat(Number(process.env.PADDING ?? 120))

let started = 0
let acked = 0
let refused = 0
const latencies = new Float64Array(total)

function nextPush(): string {
  const id = randomUUID()
  const number = started++
  const body = `{"type":"ticket.updated","ticket":"ticket-${number}","customer":"c-${number % 5000}","id":"${id}","note":"${padding}"}`
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n` +
    `x-delivery-id: ${id}\r\nx-delivery-timestamp: ${timestamp}\r\nx-delivery-signature: ${signature}\r\n\r\n${body}`
  )
}

function runClient(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let pending = ''
    const push = () => {
      if (started >= total) {
        socket.end()
        resolve()
        return
      }
      const request = nextPush()
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('connect', push)
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('latin1')
      if (!pending.includes('\r\n\r\n')) return
      if (pending.startsWith('HTTP/1.1 2')) latencies[acked++] = performance.now() - sentAt
      else refused++
      pending = ''
      push()
    })
    socket.on('error', reject)
  })
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: clients }, runClient))
const seconds = (performance.now() - startedAt) / 1000
const sorted = latencies.slice(0, acked).sort()
const at = (share: number) => Math.round((sorted[Math.floor(acked * share)] ?? 0) * 100) / 100
process.stdout.write(
  `${JSON.stringify({ acked, refused, seconds, perSecond: acked / seconds, p50Ms: at(0.5), p99Ms: at(0.99) })}\n`,
)
