import type { ClaimResult, PlannedPush } from '@counterfoil/core'

/**
 * One push on its way into the store. Its answer is given once; what the store learns after a deadline goes to
 * `later` of the answer.
 */
export type Arrival = {
  readonly push: PlannedPush
  /** `performance.now()` ms. */
  readonly deadlineAt: number
  /** What it holds in memory, about. */
  readonly bytes: number
  /** Arrivals with one key run one after the other where they run alone. */
  readonly key: string
  phase: 'queued' | 'sending' | 'between_tries'
  /** Was anything ever sent without an answer coming back? Then a claim may have landed. */
  doubtful: boolean
  /** Why the last try failed. */
  cause: string | null
  /** Has the caller got an answer? Nobody waits for this one any more, then. */
  isAnswered: () => boolean
  /** The store's word. After the deadline it only reaches `later`. */
  settle: (result: ClaimResult) => void
}

export type Accepted = { readonly arrival: Arrival; readonly answer: Promise<ClaimResult> }

/** Fixed cost of one waiting push beside its bodies; so that empty bodies are bounded too. */
const OVERHEAD_BYTES = 1024

/** Takes a push and starts its deadline. `onExpired` is told when the deadline passes first. */
export function createArrival(
  push: PlannedPush,
  key: string,
  deadlineAt: number,
  onExpired: (arrival: Arrival) => void,
): Accepted {
  let answered = false
  const first = createSlot()
  const final = createSlot()
  const answer = (result: ClaimResult): void => {
    answered = true
    clearTimeout(timer)
    first.resolve(result)
  }
  const arrival: Arrival = {
    push,
    deadlineAt,
    bytes: measure(push),
    key,
    phase: 'queued',
    doubtful: false,
    cause: null,
    isAnswered: () => answered,
    settle: (result) => {
      final.resolve(result)
      if (!answered) answer(result)
    },
  }
  const timer = setTimeout(
    () => {
      answer(judgeExpired(arrival, final.answer))
      onExpired(arrival)
    },
    Math.max(0, deadlineAt - performance.now()),
  )
  return { arrival, answer: first.answer }
}

function createSlot(): { readonly answer: Promise<ClaimResult>; readonly resolve: (result: ClaimResult) => void } {
  let resolve: (result: ClaimResult) => void = () => {}
  const answer = new Promise<ClaimResult>((fulfil) => {
    resolve = fulfil
  })
  return { answer, resolve }
}

/** What can be said of a push whose time is over, by how far it came. */
function judgeExpired(arrival: Arrival, later: Promise<ClaimResult>): ClaimResult {
  if (arrival.phase === 'sending' || arrival.doubtful) return { kind: 'in_doubt', cause: 'deadline', later }
  if (arrival.cause !== null) return { kind: 'unavailable', cause: arrival.cause }
  return { kind: 'not_started', cause: 'deadline' }
}

/** The answer for a push that is given up: what may have landed is never called a failure. */
export function giveUp(arrival: Arrival, cause: string): void {
  arrival.settle(arrival.doubtful ? { kind: 'in_doubt', cause: 'connection' } : { kind: 'unavailable', cause })
}

function measure(push: PlannedPush): number {
  let bytes = OVERHEAD_BYTES
  for (const delivery of push.deliveries) {
    bytes += delivery.body.length
    if (delivery.disposition.kind !== 'act') continue
    for (const entry of delivery.disposition.entries) bytes += entry.body.length
  }
  return bytes
}
