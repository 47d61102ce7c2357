import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerProblem, type ProblemStatus, problemBody, problemTitle } from './choose-answer.js'
import type { PushHandler } from './push-handler.js'
import type { RefusalLog } from './refusal-log.js'

/** Longer than the 60 s that load balancers idle, so that the side that closes is never us: that race reads as a 502. */
const KEEP_ALIVE_MS = 72_000
/**
 * Above keep-alive by convention. What cuts slow headers is the *smaller* of this and the request timeout, and what
 * cuts slow bodies the larger (tried on Node 20: it swaps the two); neither counts the idle time of a kept-alive
 * connection. So slow headers end after 30 s here, and slow bodies by the handler's own timer.
 */
const HEADERS_TIMEOUT_MS = 76_000
const REQUEST_TIMEOUT_MS = 30_000
const CHECK_EVERY_MS = 2000
/** Room for ids and signatures of 10 kB; beyond it 431. */
const MAX_HEADER_BYTES = 16 * 1024
const MAX_CONNECTIONS = 10_000

export type PushServer = {
  readonly server: Server
  /** Stops accepting. Kept-alive connections stay until they were answered once more or `closeIdle` is called. */
  readonly stopAccepting: () => void
  /** Ends connections that are between two requests. */
  readonly closeIdle: () => void
  readonly closeAll: () => void
}

/** The public server: the handler on `node:http`, with timeouts for life behind a load balancer. */
export function createPushServer(
  handler: PushHandler,
  refusals: RefusalLog,
  timeouts: { readonly requestTimeoutMs: number } = { requestTimeoutMs: REQUEST_TIMEOUT_MS },
): PushServer {
  const answering = new WeakMap<Duplex, ServerResponse>()
  const server = createServer({
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, timeouts.requestTimeoutMs),
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  })
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.requestTimeout = timeouts.requestTimeoutMs
  server.maxConnections = MAX_CONNECTIONS

  const receive = (waitsForContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    answering.set(request.socket, response)
    void handler(request, response, { waitsForContinue })
  }
  server.on('request', receive(false))
  server.on('checkContinue', receive(true))
  server.on('checkExpectation', (_request, response: ServerResponse) => answerExpectation(response, refusals))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    answerClientError(error, socket, answering.get(socket), refusals)
  })
  server.on('dropRequest', () => refusals.write({ cause: 'too_many_requests_on_connection' }, 'push.dropped'))
  server.on('drop', () => refusals.write({ cause: 'too_many_connections' }, 'push.dropped'))

  return {
    server,
    // The HTTP server's own `close` would also cut idle kept-alive connections at once, and with them a push that is
    // already on its way.
    stopAccepting: () => void NetServer.prototype.close.call(server),
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  }
}

function answerExpectation(response: ServerResponse, refusals: RefusalLog): void {
  const answer = answerProblem(417, { connection: 'close' })
  response.writeHead(answer.status, answer.headers).end(answer.body)
  refusals.write(
    { source: null, outcome: 'refused', status: answer.status, cause: 'unknown_expectation' },
    'push.received',
  )
}

const STATUS_BY_CODE = new Map<string, ProblemStatus>([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
])

/** How long a client that sent no HTTP may take to read that and go. */
const LINGER_MS = 1000

/**
 * What Node's parser refused. A push that is whole gets its own answer first, whatever followed it on the connection;
 * then the connection ends. A connection on which an answer has begun is only closed: two answers would mix.
 */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  response: ServerResponse | undefined,
  refusals: RefusalLog,
): void {
  const code = error.code ?? 'unknown'
  const pending = response !== undefined && !response.writableFinished && !response.destroyed
  if (code !== 'ECONNRESET' && pending && response.req.complete) {
    response.shouldKeepAlive = false
    return
  }
  if (code === 'ECONNRESET' || !socket.writable || (pending && response.headersSent)) {
    socket.destroy()
    return
  }
  const status = STATUS_BY_CODE.get(code) ?? 400
  const body = problemBody(status)
  socket.end(
    `HTTP/1.1 ${status} ${problemTitle(status)}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body.toString()}`,
  )
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
  // A push that ended in the middle has a line of its own.
  if (pending && code === 'HPE_INVALID_EOF_STATE') return
  refusals.write({ source: null, outcome: 'refused', status, cause: 'malformed_http', code }, 'push.received')
}
