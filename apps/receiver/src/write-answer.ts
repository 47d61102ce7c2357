import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './choose-answer.js'
import type { PushEnd } from './push-end.js'
import type { Arrival } from './push-handler.js'

/** `written`: the whole answer was handed to the socket. What the sender made of it is not ours to know. */
export type AnswerWritten = 'written' | 'not_written'

/** How long what is left of an unread body is read and thrown away, so that the sender gets to read its answer. */
const LINGER_MS = 5000

/** Never rejects: a socket that is gone is a result. */
export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  close: boolean,
): Promise<AnswerWritten> {
  if (response.destroyed || response.headersSent) return Promise.resolve('not_written')
  return new Promise((resolve) => {
    // `close` always comes, after `finish` or instead of it: one listener tells both.
    response.on('close', () => resolve(response.writableFinished ? 'written' : 'not_written'))
    if (close) response.setHeader('connection', 'close')
    response.writeHead(answer.status, answer.headers)
    if (answer.body === null) response.end()
    else response.end(answer.body)
    if (!request.complete) discardRest(request)
  })
}

/**
 * After this answer the connection ends: while draining, when the sender was too slow, and when it was refused while
 * it waited for `100 Continue`: it may send the body or not, so nobody knows where its next request would begin.
 */
export function mustClose(end: PushEnd, arrival: Arrival, draining: boolean): boolean {
  if (draining) return true
  if (end.kind === 'turned_away') return arrival.waitsForContinue === true
  return end.kind === 'unreadable' && end.cause === 'too_slow'
}

/**
 * Closing a socket with unread bytes resets it, and the reset overtakes the answer: the sender would see a lost
 * connection instead of its 413. So the rest is thrown away for a while, then the socket is closed all the same.
 */
function discardRest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  const stop = (): void => clearTimeout(timer)
  request.on('error', stop).on('end', stop).on('close', stop).resume()
}
