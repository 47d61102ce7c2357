import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PushHandler } from './push-handler.js'

/**
 * Mounts the handler on Express: `app.use(toExpress(handler))` or at the path of a source. Body parsers must come
 * after it: a parsed body is answered 503, since the signed bytes are gone.
 *
 * The path of a source is matched against the whole original URL, wherever it is mounted.
 */
export function toExpress(
  handler: PushHandler,
): (request: IncomingMessage & { readonly originalUrl?: string }, response: ServerResponse) => void {
  return (request, response) => {
    const url = request.originalUrl
    void (url === undefined ? handler(request, response) : handler(request, response, { url }))
  }
}
