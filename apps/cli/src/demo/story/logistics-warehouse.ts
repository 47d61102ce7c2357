import { waitUntil } from '../system/wait-until.js'
import type { SceneContext } from './scene.js'

const QUANTITY = 3

/** The job that the warehouse's queues push. */
export function expiryJob(job: string, reservation: string, holdUntil: Date): string {
  return JSON.stringify({
    event: 'reservation.expire',
    jobId: job,
    reservationId: reservation,
    holdUntil: holdUntil.toISOString(),
  })
}

/** Takes stock for a reservation, in a stock item of its own so that its count can be proved. */
export async function hold({ system }: SceneContext, reservation: string, seconds: number): Promise<Date> {
  await system.database.pool.query('INSERT INTO logistics.inventory (sku, available, held) VALUES ($1, 7, $2)', [
    `sku-${reservation}`,
    QUANTITY,
  ])
  const { rows } = await system.database.pool.query<{ hold_until: Date }>(
    `INSERT INTO logistics.hold (reservation_id, sku, quantity, hold_until)
     VALUES ($1, $2, $3, date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $4))
     RETURNING hold_until`,
    [reservation, `sku-${reservation}`, QUANTITY, seconds],
  )
  return rows[0]?.hold_until ?? new Date(0)
}

/** Where the warehouse's own row stands. */
export async function statusOf({ system }: SceneContext, reservation: string): Promise<string> {
  const { rows } = await system.database.pool.query<{ status: string }>(
    'SELECT status FROM logistics.hold WHERE reservation_id = $1',
    [reservation],
  )
  return rows[0]?.status ?? 'missing'
}

/** After the end of every hold: expired once, its stock back once, the carrier told once. */
export async function checkReleasedOnce(context: SceneContext, reservation: string): Promise<void> {
  const { system, look } = context
  await waitUntil(`${reservation} is expired`, async () => (await statusOf(context, reservation)) === 'expired')
  await waitUntil('the carrier was told', async () => (await system.carrier.effects(reservation)).length > 0)
  const stock = await system.database.pool.query<{ available: number; held: number }>(
    'SELECT available, held FROM logistics.inventory WHERE sku = $1',
    [`sku-${reservation}`],
  )
  look('database', 'stock available, held', [stock.rows[0]?.available, stock.rows[0]?.held], [7 + QUANTITY, 0])
  const applied = await system.database.pool.query(
    `SELECT 1 FROM counterfoil.transition_outcome WHERE subject = $1 AND outcome = 'applied'`,
    [reservation],
  )
  look('database', 'transitions applied', applied.rowCount, 1)
  look('carrier', 'business actions', (await system.carrier.effects(reservation)).length, 1)
}

/** What the ack bodies said: `{ accepted, outcome }`. */
export function outcomes(answers: readonly { readonly [field: string]: unknown }[]): unknown[] {
  return answers.map((answer) => {
    try {
      return (JSON.parse(String(answer.body)) as { outcome?: unknown }).outcome ?? answer.status
    } catch {
      return answer.status
    }
  })
}
