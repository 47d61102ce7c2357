import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pickHeaders, type SinkLedger } from './sink-ledger.js'
import { createChooser, doesApply, type SinkBehaviour, type SinkScript } from './sink-script.js'

const OK = '{"ok":true}'

type Stored = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** Serves requests by the script and keeps the ledger. `connectionOf` numbers a socket. */
export function createSinkHandler(
  script: SinkScript,
  ledger: SinkLedger,
  stored: Map<string, Stored>,
  connectionOf: (socket: Socket) => number,
) {
  const choose = createChooser(script)
  return (request: IncomingMessage, response: ServerResponse): void => {
    const header = request.headers[script.keyHeader]
    const key = header === undefined ? null : String(header)
    const path = request.url ?? '/'
    const behaviour = choose(path, key)
    const number = ledger.open({
      method: request.method ?? '',
      path,
      key,
      connection: connectionOf(request.socket),
      headers: pickHeaders(script.keepHeaders, request.headers),
    })
    if (behaviour.kind === 'reset_before_read') {
      ledger.close(number, 'reset')
      request.socket.resetAndDestroy()
      return
    }
    const hash = createHash('sha256')
    request.on('data', (chunk: Buffer) => hash.update(chunk))
    request.on('error', () => ledger.close(number, 'client_left'))
    request.on('end', () => {
      const digest = hash.digest()
      ledger.keepDigest(number, digest)
      finish({ behaviour, number, path, key, digest, response })
    })
  }

  function finish(call: {
    behaviour: Exclude<SinkBehaviour, { kind: 'reset_before_read' }>
    number: number
    path: string
    key: string | null
    digest: Buffer
    response: ServerResponse
  }): void {
    const { behaviour, number, key, response } = call
    const applies = doesApply(behaviour)
    const earlier = applies && key !== null && script.honourKeys ? ledger.findApplied(call.path, key) : null
    if (applies && earlier === null) applyEffect(call.path, key, number, behaviour)
    if (behaviour.kind !== 'answer') {
      misbehave(behaviour, number, response)
    } else if (earlier === null || key === null) {
      answer(response, number, 'answered', toStored(behaviour), behaviour.delayMs ?? 0)
    } else if (!earlier.equals(call.digest)) {
      const refusal = { status: 422, headers: {}, body: '{"error":"idempotency key reused with another body"}' }
      answer(response, number, 'refused_key', refusal, behaviour.delayMs ?? 0)
    } else {
      const first = stored.get(`${call.path}\n${key}`) ?? { status: 200, headers: {}, body: OK }
      const replay = { ...first, headers: { ...first.headers, 'Idempotent-Replayed': 'true' } }
      answer(response, number, 'replayed', replay, behaviour.delayMs ?? 0)
    }
  }

  function applyEffect(path: string, key: string | null, number: number, behaviour: SinkBehaviour): void {
    ledger.apply(number)
    // Only an unusual success is worth its memory: everything else is replayed as a plain 200.
    if (key === null || !script.honourKeys || behaviour.kind !== 'answer') return
    const isPlain = behaviour.status === 200 && behaviour.body === undefined && behaviour.headers === undefined
    if (!isPlain && behaviour.status >= 200 && behaviour.status < 300) {
      stored.set(`${path}\n${key}`, toStored(behaviour))
    }
  }

  function answer(
    response: ServerResponse,
    number: number,
    did: 'answered' | 'replayed' | 'refused_key',
    content: Stored,
    delayMs: number,
  ): void {
    const write = () => {
      ledger.close(number, response.destroyed ? 'client_left' : did)
      response.writeHead(content.status, content.headers)
      response.end(content.status === 204 || content.status === 304 ? undefined : content.body)
    }
    if (delayMs > 0) setTimeout(write, delayMs)
    else write()
  }

  function misbehave(
    behaviour: Extract<SinkBehaviour, { kind: 'hang' | 'drop' | 'truncate' | 'raw' }>,
    number: number,
    response: ServerResponse,
  ): void {
    const socket = response.socket
    ledger.close(number, behaviour.kind === 'hang' ? 'hung' : behaviour.kind === 'raw' ? 'answered' : 'dropped')
    switch (behaviour.kind) {
      case 'hang':
        return
      case 'drop':
        if (behaviour.reset === true) socket?.resetAndDestroy()
        else socket?.destroy()
        return
      case 'truncate':
        response.writeHead(behaviour.status, { 'Content-Length': '64', 'Content-Type': 'application/json' })
        response.write('{"half":', () => socket?.destroySoon())
        return
      case 'raw':
        socket?.end(Buffer.from(behaviour.base64, 'base64'))
    }
  }
}

function toStored(behaviour: Extract<SinkBehaviour, { kind: 'answer' }>): Stored {
  const body = behaviour.body ?? (behaviour.status < 300 ? OK : '')
  return { status: behaviour.status, headers: { 'Content-Type': 'application/json', ...behaviour.headers }, body }
}
