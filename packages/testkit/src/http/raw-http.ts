import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type RawAnswer = {
  /** Status of the last response's status line that was read; 0 when nothing or nonsense came. */
  readonly status: number
  /** Lower-case names; repeated headers joined with `, `. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** All bytes that came back. */
  readonly raw: Buffer
  /** How it ended: the other side finished, the other side reset, or our time was up. */
  readonly end: 'closed' | 'reset' | 'timeout'
}

export type RawHttpOptions = {
  /** Default 5,000. Until then the answer's end is waited for: send `Connection: close` to be quick. */
  readonly timeoutMs?: number
  /** Pause between two chunks, default 0. */
  readonly pauseMs?: number
  /** Sends FIN after the last chunk: a client that hung up half-way. */
  readonly halfClose?: boolean
}

/**
 * Writes exactly these bytes to a port of 127.0.0.1 and reads what comes back: for requests that a client library
 * would refuse or tidy up. Several chunks are written one after another.
 */
export async function rawHttp(
  port: number,
  request: string | Buffer | readonly (string | Buffer)[],
  options: RawHttpOptions = {},
): Promise<RawAnswer> {
  const chunks = typeof request === 'string' || Buffer.isBuffer(request) ? [request] : request
  const received: Buffer[] = []
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  const end = new Promise<RawAnswer['end']>((resolve, reject) => {
    const timer = setTimeout(() => resolve('timeout'), options.timeoutMs ?? 5_000)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve('closed')
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(error)
      else resolve('reset')
    })
  })
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  void writeChunks(chunks)
  const how = await end
  socket.destroy()
  return { ...parseAnswer(Buffer.concat(received)), end: how }

  async function writeChunks(all: readonly (string | Buffer)[]): Promise<void> {
    for (const [index, chunk] of all.entries()) {
      if (index > 0) await sleep(options.pauseMs ?? 0)
      if (socket.destroyed) return
      socket.write(chunk)
    }
    if (options.halfClose === true) socket.end()
  }
}

function parseAnswer(raw: Buffer): Omit<RawAnswer, 'end'> {
  const text = raw.toString('latin1')
  const headEnd = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, headEnd === -1 ? text.length : headEnd).split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0)
  const body = headEnd === -1 ? '' : raw.subarray(headEnd + 4).toString('utf8')
  return { status, headers, body, raw }
}
