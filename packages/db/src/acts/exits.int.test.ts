import { randomUUID } from 'node:crypto'
import {
  type AttemptOutcome,
  decide,
  EXITS,
  type Happening,
  type LeasedEntry,
  PLACES,
  type Place,
  workerLost,
} from '@counterfoil/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ACCEPTED,
  DEAD_LETTER,
  FINISH,
  HOLD,
  openStory,
  REFUSED,
  RETRY,
  type Story,
  TIMED_OUT,
} from '../audit/story.int-setup.js'
import {
  checkPlacement,
  ensureDestinations,
  expireLeases,
  pauseDestination,
  recordLateOutcome,
} from '../outbox/index.js'
import {
  cancelEntry,
  type DestinationContracts,
  redriveEntry,
  releaseDestination,
  requestAgain,
  settleEntry,
} from './index.js'

let story: Story
beforeAll(async () => {
  story = await openStory()
})
afterAll(async () => {
  await story.end()
})

const RETRY_RULES = { firstMs: 0, capMs: 0, maxAttempts: 2, maxAgeMs: 86_400_000, maxRetryAfterMs: 1_000 }
const KEY = { kind: 'header', header: 'K', quoted: false, lifetimeMs: 86_400_000, marginMs: 1_000 } as const
const NO_KEY = { kind: 'none' } as const
const KEYED: DestinationContracts = { get: () => ({ idempotency: KEY }) }
const KEYLESS: DestinationContracts = { get: () => ({ idempotency: NO_KEY }) }
const ANA = { actor: 'ana', reason: 'to see where it goes' }
const OUTCOMES: Readonly<Record<string, AttemptOutcome>> = {
  accepted: ACCEPTED,
  rejected: REFUSED,
  unauthorised: { kind: 'unauthorised', status: 401 },
  deferred: { kind: 'deferred', status: 503, notBefore: null },
  not_sent: { kind: 'not_sent', cause: 'connect', code: 'ECONNREFUSED' },
  uncertain: TIMED_OUT,
}

/** An entry somewhere, and the lease of its last attempt: who made that may still have a late word to say. */
type Stood = { readonly entry: string; readonly destination: string; readonly last: LeasedEntry | null }

async function add(): Promise<Stood> {
  const destination = `d-${randomUUID().slice(0, 8)}`
  await ensureDestinations(story.database, [destination])
  return { destination, entry: await story.addEntry(await story.addDelivery(), destination), last: null }
}

async function tried(outcome: AttemptOutcome, decision: Parameters<Story['close']>[2], from?: Stood): Promise<Stood> {
  const stood = from ?? (await add())
  const last = await story.lease(stood.destination)
  await story.close(last, outcome, decision)
  return { ...stood, last }
}

async function settled(as: 'delivered' | 'not_delivered'): Promise<Stood> {
  const stood = await tried(TIMED_OUT, HOLD)
  await settleEntry(story.database, stood.entry, { ...ANA, as, evidence: 'm-17', seenAttempt: null })
  return stood
}

async function erased(stood: Stood): Promise<Stood> {
  await story.pool.query('UPDATE counterfoil.entry SET body = NULL WHERE id = $1', [stood.entry])
  return stood
}

/** Ways to stand in a place. `waiting` and `parked` have none here: see the list at the end. */
const STANDS: Readonly<Record<string, readonly (() => Promise<Stood>)[]>> = {
  due: [
    add,
    () => tried(TIMED_OUT, RETRY),
    async () => tried(TIMED_OUT, RETRY, await tried(TIMED_OUT, RETRY)),
    // One attempt was refused, and a later one is in doubt.
    async () => tried(TIMED_OUT, RETRY, await redriven(await tried(REFUSED, DEAD_LETTER))),
  ],
  leased: [
    async () => leased(await add()),
    async () => leased(await tried(TIMED_OUT, RETRY)),
    async () => leased(await tried(OUTCOMES.not_sent ?? ACCEPTED, RETRY)),
  ],
  delivered: [() => tried(ACCEPTED, FINISH), async () => erased(await tried(ACCEPTED, FINISH))],
  uncertain: [
    () => tried(TIMED_OUT, HOLD),
    async () => tried(TIMED_OUT, HOLD, await tried(TIMED_OUT, RETRY)),
    async () => tried(TIMED_OUT, HOLD, await redriven(await tried(REFUSED, DEAD_LETTER))),
  ],
  dead_lettered: [
    () => tried(REFUSED, DEAD_LETTER),
    async () => erased(await tried(REFUSED, DEAD_LETTER)),
    async () => lateDoubt(await tried(OUTCOMES.not_sent ?? ACCEPTED, { kind: 'dead_letter', because: 'too_old' })),
  ],
  settled: [() => settled('delivered'), () => settled('not_delivered')],
  cancelled: [
    async () => cancelled(await add()),
    async () => lateDoubt(await cancelled(await tried(OUTCOMES.not_sent ?? ACCEPTED, RETRY))),
    async () => erased(await cancelled(await add())),
  ],
}

async function leased(stood: Stood): Promise<Stood> {
  return { ...stood, last: await story.lease(stood.destination) }
}
async function cancelled(stood: Stood): Promise<Stood> {
  await cancelEntry(story.database, stood.entry, ANA)
  return stood
}
async function redriven(stood: Stood): Promise<Stood> {
  await redriveEntry(story.database, stood.entry, ANA, KEYED)
  return stood
}
async function lateDoubt(stood: Stood): Promise<Stood> {
  await late(stood, TIMED_OUT)
  return stood
}

async function late({ last }: Stood, outcome: AttemptOutcome): Promise<Done> {
  if (last === null) return 'not_here'
  const facts = { detail: null, durationMs: null, keySent: null, digestSent: null }
  const finish = { kind: 'finish', as: 'delivered', repeat: false } as const
  await recordLateOutcome(story.database, { leased: last, worker: 'w1', outcome, decision: finish, ...facts })
  return undefined
}

/** What the worker does at the end of an attempt, with each contract that makes a difference. */
function close(outcome: AttemptOutcome, idempotency: typeof KEY | typeof NO_KEY, maxAgeMs = 86_400_000) {
  return async ({ last }: Stood): Promise<Done> => {
    if (last === null) throw new Error('nothing was leased')
    const contract = { idempotency, retry: { ...RETRY_RULES, maxAgeMs } }
    await story.close(
      last,
      outcome,
      decide(outcome, last.history, contract, Date.now(), () => 0.5),
    )
    return undefined
  }
}

async function expire({ entry }: Stood, idempotency: typeof KEY | typeof NO_KEY): Promise<Done> {
  await story.pool.query(
    `UPDATE counterfoil.lease SET opened_at = opened_at - interval '1 h', expires_at = clock_timestamp() - interval '1 min'
     WHERE entry = $1`,
    [entry],
  )
  const contract = { idempotency, retry: { ...RETRY_RULES, maxAttempts: 9 } }
  await expireLeases(story.database, {
    limit: 100,
    graceMs: 0,
    decide: ({ history, now }) => decide(workerLost(), history, contract, now, () => 0.5),
  })
  return undefined
}

/** `refused`: the operation said no; `not_here`: there is nothing that it could be about. */
type Done = 'refused' | 'not_here' | undefined
const isRefused = (result: { readonly kind: string }): Done =>
  result.kind === 'conflict' || result.kind === 'refused' ? 'refused' : undefined

type Doing = (stood: Stood) => Promise<Done>
const SETTLE = { ...ANA, as: 'delivered', evidence: 'm-1', seenAttempt: null } as const
const outcome = (name: string): readonly Doing[] => {
  const known = OUTCOMES[name] ?? ACCEPTED
  return [close(known, KEY), close(known, NO_KEY), close(known, KEY, -1)]
}
const lateWord = (...names: string[]): readonly Doing[] =>
  names.map((name) => (stood) => late(stood, OUTCOMES[name] ?? ACCEPTED))

const DOINGS: Readonly<Partial<Record<Happening, readonly Doing[]>>> = {
  taken_by_worker: [
    async ({ destination }) => {
      await story.lease(destination)
      return undefined
    },
  ],
  outcome_accepted: outcome('accepted'),
  outcome_rejected: outcome('rejected'),
  outcome_unauthorised: outcome('unauthorised'),
  outcome_deferred: outcome('deferred'),
  outcome_not_sent: outcome('not_sent'),
  outcome_uncertain: outcome('uncertain'),
  lease_expired: [(stood) => expire(stood, KEY), (stood) => expire(stood, NO_KEY)],
  late_accepted: lateWord('accepted'),
  late_rejected: lateWord('rejected'),
  late_nothing_done: lateWord('not_sent', 'deferred', 'unauthorised'),
  late_uncertain: lateWord('uncertain'),
  settle: [async ({ entry }) => isRefused(await settleEntry(story.database, entry, SETTLE))],
  cancel: [async ({ entry }) => isRefused(await cancelEntry(story.database, entry, ANA))],
  redrive: [KEYED, KEYLESS].map(
    (contracts) =>
      async ({ entry }) =>
        isRefused(await redriveEntry(story.database, entry, ANA, contracts)),
  ),
  send_again: [KEYED, KEYLESS].map(
    (contracts) =>
      async ({ entry }) =>
        isRefused(await requestAgain(story.database, entry, { ...ANA, approver: 'bo' }, contracts)),
  ),
  erase_content: [
    ({ entry }) =>
      story.pool.query('UPDATE counterfoil.entry SET body = NULL WHERE id = $1', [entry]).then(
        () => undefined,
        () => 'refused' as const,
      ),
  ],
  destination_paused: [
    async ({ destination }) => {
      await pauseDestination(story.database, destination, { reason: 'gone', forMs: null, detail: null })
      return undefined
    },
  ],
  destination_resumed: [
    async ({ destination }) => {
      await pauseDestination(story.database, destination, { reason: 'gone', forMs: null, detail: null })
      await releaseDestination(story.database, destination, ANA)
      return undefined
    },
  ],
}

async function placeOf(entry: string): Promise<Place> {
  const { rows } = await story.pool.query<{ place: Place }>(
    `SELECT CASE WHEN d.entry IS NOT NULL THEN 'due' WHEN l.entry IS NOT NULL THEN 'leased' ELSE e.state END AS place
     FROM counterfoil.entry e LEFT JOIN counterfoil.due d ON d.entry = e.id LEFT JOIN counterfoil.lease l ON l.entry = e.id
     WHERE e.id = $1`,
    [entry],
  )
  const found = rows[0]
  if (found === undefined) throw new Error('the entry is gone')
  return found.place
}

/** Everything that was seen to follow, each way to stand there tried with each way to do it. */
async function observe(happening: Happening, place: Place): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  for (const stand of STANDS[place] ?? []) {
    for (const act of DOINGS[happening] ?? []) {
      const stood = await stand()
      expect(await placeOf(stood.entry)).toBe(place)
      const done = await act(stood)
      const now = await placeOf(stood.entry)
      if (done !== 'not_here') seen.add(done ?? (now === place ? 'stays' : now))
      if (done === 'refused') expect(now).toBe(place)
    }
  }
  return seen
}

/** Exits of operations that are told by tests of their own: nothing here can make them happen. */
const ELSEWHERE: ReadonlySet<string> = new Set(['destination_paused due parked'])

/** Every pair that can happen here: `waiting` and `parked`, skipping, findings and removal are beyond these operations. */
function listPairs(): readonly (readonly [Happening, Place])[] {
  const happenings = Object.keys(DOINGS) as Happening[]
  const places = PLACES.filter((place) => STANDS[place] !== undefined)
  return happenings.flatMap((happening) =>
    places.filter((place) => EXITS[happening][place].never === null).map((place) => [happening, place] as const),
  )
}

describe('what really happens to an entry', () => {
  it.each(listPairs())(
    '%s of one that is %s is what the table of exits says, all of it and nothing else (I12)',
    async (happening, place) => {
      const { to, stays, refused } = EXITS[happening][place]
      const expected = [...to, ...(stays === null ? [] : ['stays']), ...(refused === null ? [] : ['refused'])]
      const seen = await observe(happening, place)
      expect([...seen].sort()).toEqual(expected.filter((one) => !ELSEWHERE.has(`${happening} ${place} ${one}`)).sort())
    },
  )

  it('leaves each pending entry in exactly one place', async () => {
    expect(await checkPlacement(story.database)).toEqual([])
  })
})
