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
    let held: Buffer = EMPTY
    let total = 0

    const end = (read: BodyRead): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onClose)
      resolve(read)
    }
    const onData = (chunk: Buffer): void => {
      total += chunk.length
      if (total > limits.limitBytes) end({ kind: 'too_large' })
      else if (!seat.hold(chunk.length)) end({ kind: 'overloaded' })
      else held = append(held, total - chunk.length, chunk)
    }
    const onEnd = (): void => {
      end({ kind: 'read', bytes: held.subarray(0, total) })
    }
    const onClose = (): void => end({ kind: 'client_gone' })

    const timer = setTimeout(() => end({ kind: 'too_slow' }), limits.timeoutMs)
    request.on('error', ignoreError).on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

/**
 * The first chunk is most often the whole body and kept as it is; further ones are copied behind it. A list of chunks
 * would do as well, but a stranger may send chunks of one byte, and each would be an object of a hundred.
 */
function append(held: Buffer, length: number, chunk: Buffer): Buffer {
  if (length === 0) return chunk
  let target = held
  if (target.length < length + chunk.length) {
    target = Buffer.allocUnsafe(Math.max(2 * target.length, length + chunk.length))
    held.copy(target, 0, 0, length)
  }
  chunk.copy(target, length)
  return target
}

/** An aborted request errs and then closes; the close is what counts. */
function ignoreError(): void {}

function wasTouched(request: IncomingMessage): boolean {
  return request.readableDidRead || request.readableFlowing === true || request.readableEncoding !== null
}
