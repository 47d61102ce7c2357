import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './choose-answer.js'
import type { PushEnd } from './push-end.js'
import type { Arrival } from './push-handler.js'

/** `written`: the whole answer was handed to the socket. What the sender made of it is not ours to know. */
export type AnswerWritten = 'written' | 'not_written'

/** How long what is left of an unread body is read and thrown away, so that the sender gets to read its answer. */
const LINGER_MS = 5000
/** How long a sender may take to read its answer. One that never does would keep its seat for ever. */
const HANDOVER_MS = 30_000

export type Farewell = {
  /** The connection ends after this answer. */
  readonly close: boolean
  /** Is more of the body to be expected, so that it must be thrown away first? */
  readonly awaitsRest: boolean
}

/** Never rejects: a socket that is gone is a result. */
export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  farewell: Farewell,
): Promise<AnswerWritten> {
  if (response.destroyed || response.headersSent || request.socket.destroyed) return Promise.resolve('not_written')
  if (farewell.close) response.setHeader('connection', 'close')
  response.writeHead(answer.status, answer.headers)
  if (farewell.awaitsRest && !request.complete) return writeAhead(request, response, answer)
  const handedOver = awaitHandover(request, response)
  if (answer.body === null) response.end()
  else response.end(answer.body)
  return handedOver
}

/**
 * `close` of the response comes after `finish` or instead of it, so one listener tells both. Not so for a response that
 * waits behind that of an earlier push on its connection: Node never closes it when the connection is lost.
 */
function awaitHandover(request: IncomingMessage, response: ServerResponse): Promise<AnswerWritten> {
  const { socket } = request
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), HANDOVER_MS).unref()
    const end = (): void => {
      clearTimeout(timer)
      socket.off('close', end)
      resolve(response.writableFinished ? 'written' : 'not_written')
    }
    response.on('close', end)
    if (response.socket !== null) return
    // As many of them as pushes are pipelined.
    socket.setMaxListeners(0)
    socket.on('close', end)
  })
}

/**
 * Answers before the body is through. Closing a socket with unread bytes resets it, and the reset overtakes the
 * answer: the sender would see a lost connection instead of its 413. So the answer goes out whole, the rest is
 * thrown away for a while, and only then is the exchange over.
 */
function writeAhead(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<AnswerWritten> {
  if (answer.body === null) response.flushHeaders()
  else response.write(answer.body)
  const giveUp = (): void => {
    response.end()
    request.destroy()
  }
  const timer = setTimeout(giveUp, LINGER_MS)
  const finish = (): void => {
    clearTimeout(timer)
    response.end()
  }
  request.on('error', finish).on('end', finish).on('close', finish).resume()
  return Promise.resolve('written')
}

/**
 * The connection ends while we close, when the sender was too slow, and when it was refused while it waited for
 * `100 Continue`: it may send the body or not, so nobody knows where its next request would begin.
 */
export function chooseFarewell(end: PushEnd, arrival: Arrival, closing: boolean): Farewell {
  const wasSlow = end.kind === 'unreadable' && end.cause === 'too_slow'
  const waits = end.kind === 'turned_away' && arrival.waitsForContinue === true
  const cut = wasSlow || waits
  return { close: closing || cut, awaitsRest: !cut }
}
