import type { Database } from '../connection/database.js'
import type { ActRequest } from './act-result.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

/** What a person is about to push by hand with a source's real key. Never the signature or the payload (I10). */
export type ForcedPush = {
  readonly source: string
  readonly keyId: string
  readonly origin: string
  readonly deliveryId: string | null
  readonly bodySha256: string
}

/** Writes a forced push down before it goes out (I9). Returns the act's id. */
export async function recordForcedPush(database: Database, push: ForcedPush, request: ActRequest): Promise<string> {
  const result = await runAct(
    database,
    async (client) => ({
      kind: 'recorded' as const,
      act: await recordAct(client, 'push', request, {
        detail: {
          source: push.source,
          key_id: push.keyId,
          origin: push.origin,
          delivery_id: push.deliveryId,
          body_sha256: push.bodySha256,
        },
      }),
    }),
    () => true,
  )
  return result.act
}
