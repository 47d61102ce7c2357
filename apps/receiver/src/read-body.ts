import type { IncomingMessage } from 'node:http'
import type { Seat } from './intake-budget.js'

export type BodyRead =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'too_slow' }
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'client_gone' }
  /** Somebody parsed or began to read it: the bytes that were signed are lost. */
  | { readonly kind: 'body_consumed' }

const EMPTY = Buffer.alloc(0)

/**
 * The exact bytes of the body, at most `limitBytes` of them. What is over the limit is not kept. Never rejects.
 * A request without Content-Length and without chunks has an empty body.
 */
export function readBody(
  request: IncomingMessage,
  limits: { readonly limitBytes: number; readonly timeoutMs: number },
  seat: Seat,
): Promise<BodyRead> {
  if (wasTouched(request)) return Promise.resolve({ kind: 'body_consumed' })
  return new Promise((resolve) => {
    let first: Buffer | null = null
    let more: Buffer[] | null = null
    let total = 0

    const end = (read: BodyRead): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      resolve(read)
    }
    const keep = (chunk: Buffer): void => {
      if (first === null) first = chunk
      else if (more === null) more = [first, chunk]
      else more.push(chunk)
    }
    const onData = (chunk: Buffer): void => {
      total += chunk.length
      if (total > limits.limitBytes) end({ kind: 'too_large' })
      else if (!seat.hold(chunk.length)) end({ kind: 'overloaded' })
      else keep(chunk)
    }
    const onEnd = (): void => {
      end({ kind: 'read', bytes: more === null ? (first ?? EMPTY) : Buffer.concat(more, total) })
    }
    const onClose = (): void => end({ kind: 'client_gone' })

    const timer = setTimeout(() => end({ kind: 'too_slow' }), limits.timeoutMs)
    request.on('error', ignoreError).on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

/** An aborted request errs and then closes; the close is what counts. */
function ignoreError(): void {}

function wasTouched(request: IncomingMessage): boolean {
  return request.readableDidRead || request.readableFlowing === true || request.readableEncoding !== null
}
