import { request } from 'node:http'
import { connect } from 'node:net'
import type { SignedPush } from './sign-push.js'

export type PushAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null; readonly body: string }
  /** The answer was on its way, and nobody read it. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly code: string }

/** One HTTP request on a connection of its own; never throws for a network result. */
export function sendPush(url: string, push: SignedPush, timeoutMs: number): Promise<PushAnswer> {
  return new Promise((resolve) => {
    const sent = request(
      url,
      { method: 'POST', agent: false, timeout: timeoutMs, headers: sized(push) },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', () => resolve({ kind: 'failed', code: 'answer_cut' }))
        response.once('end', () => {
          const seconds = Number(response.headers['retry-after'])
          resolve({
            kind: 'answered',
            status: response.statusCode ?? 0,
            retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
            body: Buffer.concat(chunks).toString('utf8'),
          })
        })
      },
    )
    sent.once('timeout', () => sent.destroy(Object.assign(new Error('timed out'), { code: 'TIMEOUT' })))
    sent.once('error', (error: NodeJS.ErrnoException) => resolve({ kind: 'failed', code: error.code ?? 'ERROR' }))
    sent.end(push.body)
  })
}

/** Sends the whole push and throws the answer away unread, as a dying network does. */
export function sendAndLoseAnswer(url: string, push: SignedPush, timeoutMs: number): Promise<PushAnswer> {
  const target = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(target.port || 80), target.hostname)
    const lose = () => {
      socket.resetAndDestroy()
      resolve({ kind: 'lost' })
    }
    // Its first byte proves that the receiver has decided; nothing of it is looked at.
    socket.once('data', lose)
    socket.setTimeout(timeoutMs, lose)
    socket.once('error', (error: NodeJS.ErrnoException) => resolve({ kind: 'failed', code: error.code ?? 'ERROR' }))
    socket.once('close', () => resolve({ kind: 'failed', code: 'CLOSED' }))
    const lines = Object.entries({ host: target.host, ...sized(push) }).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST ${target.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`)
    socket.write(push.body)
  })
}

function sized(push: SignedPush): Record<string, string> {
  return { ...push.headers, 'content-length': String(push.body.length) }
}
