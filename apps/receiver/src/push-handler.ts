import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Receives one push on Node's own request and response and always answers it; never rejects. Mount it on `node:http`
 * as it is, elsewhere through an adapter. The body must not have been read by anybody else.
 */
export type PushHandler = (request: IncomingMessage, response: ServerResponse, arrival?: Arrival) => Promise<void>

/** What the caller knows of a request beyond the request itself. */
export type Arrival = {
  /** The client waits for `100 Continue`, and nobody has sent it yet. */
  readonly waitsForContinue?: boolean
  /** The request target as it came, where a framework rewrote `request.url`. */
  readonly url?: string
}
