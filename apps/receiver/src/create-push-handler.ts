import { describeError } from './describe-error.js'
import type { PushDeps } from './push-deps.js'
import type { Arrival, PushHandler } from './push-handler.js'
import { receivePush } from './receive-push.js'

const PLAIN_ARRIVAL: Arrival = {}

/** The framework-free handler: see `receivePush`. A bug in it costs its own push a closed connection, never the process. */
export function createPushHandler(deps: PushDeps): PushHandler {
  return (request, response, arrival = PLAIN_ARRIVAL) =>
    receivePush(request, response, arrival, deps).catch((error: unknown) => {
      deps.log.error(describeError(error), 'push.handler_failed')
      response.destroy()
    })
}
