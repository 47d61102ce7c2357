import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type ReleaseDestinationResult =
  | { readonly kind: 'resumed'; readonly act: string; readonly was: string; readonly pausedAt: number }
  | ActRefusal

/** Resumes a paused destination: its entries, which kept their tries, go on. Refused where it isn't paused. */
export function releaseDestination(
  database: Database,
  destination: string,
  request: ActRequest,
): Promise<ReleaseDestinationResult> {
  return runAct<ReleaseDestinationResult>(
    database,
    async (client) => {
      const { rows } = await client.query<{ paused_reason: string | null; paused_at: Date | null }>(
        'SELECT paused_reason, paused_at FROM counterfoil.destination_state WHERE destination = $1 FOR UPDATE',
        [destination],
      )
      const state = rows[0]
      if (state === undefined) return { kind: 'not_found' }
      if (state.paused_reason === null || state.paused_at === null) {
        const next = 'Nothing: it takes what is due.'
        return { kind: 'conflict', state: 'running', why: `${destination} is not paused`, next }
      }
      const detail = { from: state.paused_reason, paused_at: state.paused_at.toISOString(), to: 'running' }
      const act = await recordAct(client, 'resume', request, { destination, detail })
      await client.query(
        `UPDATE counterfoil.destination_state SET paused_reason = NULL, paused_at = NULL, paused_until = NULL, detail = NULL
         WHERE destination = $1`,
        [destination],
      )
      return { kind: 'resumed', act, was: state.paused_reason, pausedAt: state.paused_at.getTime() }
    },
    (result) => result.kind === 'resumed',
  )
}
