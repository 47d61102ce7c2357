import type { SceneContext } from './scene.js'

/** The event that the queue fires at `expiresAt`. */
export function expiryEvent(reservation: string, expiresAt: Date): string {
  return JSON.stringify({
    type: 'reservation.expire',
    reservationId: reservation,
    titleId: 'the-third-man',
    expiresAt: expiresAt.toISOString(),
  })
}

/** Makes a hold in the shop's own table, `seconds` long by the database clock. */
export async function hold({ system }: SceneContext, reservation: string, seconds: number, seat = 'H7'): Promise<Date> {
  const { rows } = await system.database.pool.query<{ expires_at: Date }>(
    `INSERT INTO media.reservation (id, title_id, seat, expires_at)
     VALUES ($1, 'the-third-man', $2, date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $3))
     RETURNING expires_at`,
    [reservation, seat, seconds],
  )
  return rows[0]?.expires_at ?? new Date(0)
}

/** Where the shop's own row stands. */
export async function statusOf({ system }: SceneContext, reservation: string): Promise<string> {
  const { rows } = await system.database.pool.query<{ status: string }>(
    'SELECT status FROM media.reservation WHERE id = $1',
    [reservation],
  )
  return rows[0]?.status ?? 'missing'
}

/** Outcomes of every delivery about this reservation, as committed. */
export async function outcomesOf({ system }: SceneContext, reservation: string): Promise<string[]> {
  const { rows } = await system.database.pool.query<{ outcome: string }>(
    'SELECT outcome FROM counterfoil.transition_outcome WHERE subject = $1 ORDER BY decided_at',
    [reservation],
  )
  return rows.map((row) => row.outcome)
}

/** What the queue read, in order. */
export const statuses = (answers: readonly { readonly [field: string]: unknown }[]) =>
  answers.map((answer) => answer.status)
