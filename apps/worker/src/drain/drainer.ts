import type { LeasedEntry } from '@counterfoil/core'
import { createLeaseBound } from './lease-bound.js'
import { createWakeTimer } from './wake-timer.js'

export type DrainerOptions = {
  /** Requests on the wire at once. Outcomes that wait to be recorded may be as many again. */
  readonly slots: number
  /** Longest time between two looks, ms. */
  readonly pollMs: number
  /** Monotonic, ms. */
  readonly now: () => number
}

export type DrainerPorts = {
  /** At most `limit` entries; none when the database is away, after waiting a little. Never rejects. */
  lease(request: { readonly limit: number; readonly dueFrom: Date | null }): Promise<readonly LeasedEntry[]>
  /** Gives back entries that were leased and not sent. Never rejects. */
  giveBack(entries: readonly LeasedEntry[]): Promise<void>
  /**
   * May call `leaveWire` when the destination is done with it. Resolves when the outcome is recorded: with the time until
   * it is due again, or `null`. Never rejects.
   */
  deliver(leased: LeasedEntry, leaveWire: () => void): Promise<number | null>
  /** There is more here than this worker can take: others may join. */
  passOn(): void
}

export type Drainer = {
  /** Look soon: entries may be due. Cheap, idempotent. */
  wake(): void
  /** Leases nothing more. Resolves when what a call in flight still brought has been given back. */
  stop(): Promise<void>
  /** Resolves when nothing is in hand. */
  settled(): Promise<void>
  readonly inHand: () => number
  /** `now()` of the last turn. It turns at least every `pollMs`, also when full, unless a lease call is stuck. */
  readonly turnedAt: () => number
}

/** A full drainer tells the others this often, ms; their own poll finds the backlog anyway. */
const PASS_ON_MS = 250
/** First wait of an idle drainer, ms; doubles up to the poll. */
const IDLE_MS = 100

/**
 * Drains one destination: leases as many due entries as it has free slots and sends each at once, so that an opened
 * attempt really was on its way. It turns when it is woken, when an outcome of its own was recorded, when a retry of
 * its own falls due, and when the poll says so.
 */
export function createDrainer(options: DrainerOptions, ports: DrainerPorts): Drainer {
  const { now } = options
  const bound = createLeaseBound(now)
  const retries = createWakeTimer(wake, now)
  let onWire = 0
  let inHand = 0
  let isAwake = false
  let turning: Promise<void> | null = null
  let isStopped = false
  let turnedAt = now()
  let idleMs = IDLE_MS
  let poll: NodeJS.Timeout | undefined
  let passedOnAt = Number.NEGATIVE_INFINITY
  let onSettled: (() => void)[] = []

  function wake(): void {
    isAwake = true
    if (turning !== null || isStopped) return
    turning = turn().finally(() => {
      turning = null
      turnedAt = now()
      if (!isStopped) poll = setTimeout(wake, idleMs)
    })
  }

  async function turn(): Promise<void> {
    clearTimeout(poll)
    for (;;) {
      // Outcomes are recorded in batches: let all of a batch free their slots before asking for as many entries.
      await new Promise((resolve) => setImmediate(resolve))
      const free = countFree()
      if (!isAwake || isStopped || free <= 0) return
      turnedAt = now()
      isAwake = false
      const found = await look(free)
      idleMs = found ? IDLE_MS : Math.min(options.pollMs, idleMs * 2)
    }
  }

  /** While outcomes are being recorded the wire would idle; a slow database still bounds what is open. */
  function countFree(): number {
    return Math.min(options.slots - onWire, 2 * options.slots - inHand)
  }

  /** One lease call and the sends that follow from it. Never more than the free slots. */
  async function look(free: number): Promise<boolean> {
    const dueFrom = bound.next()
    const entries = await ports.lease({ limit: free, dueFrom })
    if (isStopped) {
      await ports.giveBack(entries)
      return false
    }
    bound.learn(entries)
    const isFull = entries.length >= free
    // An empty answer above a bound says nothing about what lies below it.
    if (isFull || (entries.length === 0 && dueFrom !== null)) isAwake = true
    if (isFull) passOn()
    for (const leased of entries) void deliver(leased)
    return entries.length > 0
  }

  async function deliver(leased: LeasedEntry): Promise<void> {
    inHand += 1
    onWire += 1
    let hasLeft = false
    const leaveWire = () => {
      if (hasLeft) return
      hasLeft = true
      onWire -= 1
      wake()
    }
    const dueInMs = await ports.deliver(leased, leaveWire)
    leaveWire()
    inHand -= 1
    if (dueInMs !== null && !isStopped) retries.wakeIn(dueInMs)
    if (inHand === 0) for (const resolve of onSettled.splice(0)) resolve()
    wake()
  }

  function passOn(): void {
    if (now() - passedOnAt < PASS_ON_MS) return
    passedOnAt = now()
    ports.passOn()
  }

  return {
    wake,
    stop: async () => {
      isStopped = true
      clearTimeout(poll)
      retries.clear()
      await turning
    },
    settled: () => (inHand === 0 ? Promise.resolve() : new Promise((resolve) => (onSettled = [...onSettled, resolve]))),
    inHand: () => inHand,
    turnedAt: () => turnedAt,
  }
}
