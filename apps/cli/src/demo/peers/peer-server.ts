import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

export type PeerRequest = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Answers one request. `null`: the handler has taken over the response. */
export type PeerHandler = (request: PeerRequest, response: ServerResponse) => PeerAnswer | null
export type PeerAnswer = {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const BODY_LIMIT = 1024 * 1024

/**
 * Serves a demo peer until SIGTERM, or until the process that started it is gone.
 * Says `{"listening":<port>}` on stdout, once, when it can be reached.
 */
export function servePeer(options: { host: string; port: number; handle: PeerHandler }): Server {
  const server = createServer((request, response) => {
    void readBody(request).then(
      (body) => answerRequest(request, response, body, options.handle),
      () => response.destroy(),
    )
  })
  server.listen(options.port, options.host, () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : options.port
    process.stdout.write(`${JSON.stringify({ listening: port })}\n`)
  })
  const stop = () => process.exit(0)
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // Started by the demo there is a channel to it; started by hand or by compose there is none.
  process.once('disconnect', stop)
  return server
}

function answerRequest(request: IncomingMessage, response: ServerResponse, body: Buffer, handle: PeerHandler): void {
  const url = new URL(request.url ?? '/', 'http://peer')
  const answer = answerOrExplain(handle, response, {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
  })
  if (answer !== null) writeAnswer(response, answer)
}

function answerOrExplain(handle: PeerHandler, response: ServerResponse, request: PeerRequest): PeerAnswer | null {
  try {
    return handle(request, response)
  } catch (error) {
    return { status: 400, body: { error: error instanceof Error ? error.message : 'bad request' } }
  }
}

export function writeAnswer(response: ServerResponse, answer: PeerAnswer): void {
  const body = answer.body === undefined ? '' : JSON.stringify(answer.body)
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  response.end(body)
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > BODY_LIMIT) throw new Error('body too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
