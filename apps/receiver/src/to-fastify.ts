import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PushHandler } from './push-handler.js'

/** The little of Fastify that the adapter uses, so that the receiver does not depend on it. */
type FastifyLike = {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  all(
    path: string,
    handler: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): unknown },
    ) => void,
  ): unknown
}

/**
 * A Fastify plugin: `await app.register(toFastify(handler, ['/hooks/tickets']))`. Inside it no body is parsed, so the
 * handler sees the bytes that were signed; the rest of the application keeps its parsers.
 *
 * @param paths the paths of the sources, as configured
 */
export function toFastify(handler: PushHandler, paths: readonly string[]): (app: FastifyLike) => Promise<void> {
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const path of paths) {
      app.all(path, (request, reply) => {
        reply.hijack()
        void handler(request.raw, reply.raw)
      })
    }
  }
}
