import type { IntakeLanes } from '../intake-options.js'

/** One connection stays free for acks, traces and the clock. */
const SPARE = 1

/**
 * How many transactions of each kind may run at once on a pool of `connections`. Throws when that is too few.
 * Two plain batches: measured on 2 cores, one leaves the server idle while the process reads and answers sockets, and a
 * third only makes the batches smaller.
 */
export function sizeLanes(connections: number, wanted: IntakeLanes | undefined): IntakeLanes {
  const lanes = wanted ?? { plain: 2, transition: 2, alone: Math.min(8, Math.max(1, connections - SPARE - 4)) }
  const needed = lanes.plain + lanes.transition + lanes.alone + SPARE
  if (Math.min(lanes.plain, lanes.transition, lanes.alone) < 1) {
    throw new RangeError('each lane of the intake needs at least one transaction')
  }
  if (needed > connections) {
    throw new RangeError(
      `the intake needs ${needed} connections and the pool has ${connections}; raise COUNTERFOIL_DATABASE_POOL`,
    )
  }
  return lanes
}
