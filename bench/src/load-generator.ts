import { createHmac, randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/**
 * A queue that pushes as fast as it gets acks, as a process of its own: `CLIENTS` connections, one push in flight on
 * each, `PUSHES` in all. Prints one JSON line.
 *
 * Pushes are signed before the clock starts, and sockets are raw: a queue signs on a machine of its own, and here it
 * would take its time from the two cores that the receiver and the database share.
 */
const port = Number(process.env.PORT)
const clients = Number(process.env.CLIENTS)
const total = Number(process.env.PUSHES)
const secret = process.env.SECRET ?? ''
const path = process.env.TARGET_PATH ?? '/'
const padding = 'x'.repeat(Number(process.env.PADDING ?? 120))
const timestamp = Math.floor(Date.now() / 1000)

function signPush(number: number): Buffer {
  const id = randomUUID()
  const body = `{"type":"ticket.updated","ticket":"ticket-${number}","customer":"c-${number % 5000}","id":"${id}","note":"${padding}"}`
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n` +
      `x-delivery-id: ${id}\r\nx-delivery-timestamp: ${timestamp}\r\nx-delivery-signature: ${signature}\r\n\r\n${body}`,
  )
}

const pushes = Array.from({ length: total }, (_, number) => signPush(number))
const latencies = new Float64Array(total)
let next = 0
let acked = 0
let refused = 0

/** Answers are one chunk each here: a success has no body, and anything else ends the comparison anyway. */
const isSuccess = (answer: Buffer) => answer[9] === 0x32

function runClient(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    const push = () => {
      const request = pushes[next++]
      if (request === undefined) {
        socket.end()
        resolve()
        return
      }
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('connect', push)
    socket.on('data', (answer: Buffer) => {
      if (isSuccess(answer)) latencies[acked++] = performance.now() - sentAt
      else refused++
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
