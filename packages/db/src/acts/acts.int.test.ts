import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTimeline } from '../audit/index.js'
import {
  ACCEPTED,
  DEAD_LETTER,
  FINISH,
  HOLD,
  open,
  openStory,
  REFUSED,
  RETRY,
  type Story,
  TIMED_OUT,
} from '../audit/story.int-setup.js'
import type { Database } from '../connection/index.js'
import { checkPlacement, ensureDestinations, pauseDestination } from '../outbox/index.js'
import {
  cancelEntry,
  type DestinationContracts,
  discardQuarantined,
  recordForcedPush,
  redriveEntry,
  releaseDestination,
  settleEntry,
} from './index.js'

let story: Story
let operator: Database
let viewer: Database
const logins: string[] = []

/** A login of its own, member of one group role, as whoever runs the database makes it. */
async function makeLogin(group: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await story.pool.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret' IN ROLE ${group}`)
  logins.push(name)
  const url = new URL(story.url)
  url.username = name
  url.password = 'secret'
  return url.href
}

beforeAll(async () => {
  story = await openStory()
  operator = open(await makeLogin('counterfoil_operator'), 'counterfoil_operator')
  viewer = open(await makeLogin('counterfoil_viewer'))
})
afterAll(async () => {
  await operator.close()
  await viewer.close()
  for (const login of logins) await story.pool.query(`DROP ROLE ${login}`)
  await story.end()
})

/** Contracts of destinations: every one recognises no key, or every one recognises each for a day. */
const KEYLESS: DestinationContracts = { get: () => ({ idempotency: { kind: 'none' } }) }
const KEYED: DestinationContracts = {
  get: () => ({
    idempotency: { kind: 'header', header: 'Idempotency-Key', quoted: false, lifetimeMs: 86_400_000, marginMs: 60_000 },
  }),
}

const ANA = { actor: 'ana', reason: 'customer asked, INC-77' }
const SETTLE = { ...ANA, as: 'delivered' as const, evidence: 'message m-17', seenAttempt: null }

async function deadLetter(destination: string): Promise<{ delivery: string; entry: string }> {
  const delivery = await story.addDelivery()
  const entry = await story.addEntry(delivery, destination)
  await story.attempt(destination, REFUSED, DEAD_LETTER)
  return { delivery, entry }
}

async function uncertain(destination: string): Promise<{ delivery: string; entry: string }> {
  const delivery = await story.addDelivery()
  const entry = await story.addEntry(delivery, destination)
  await story.attempt(destination, TIMED_OUT, HOLD, false)
  return { delivery, entry }
}

async function acts(entry: string) {
  const { rows } = await story.pool.query('SELECT * FROM counterfoil.act WHERE entry = $1 ORDER BY acted_at', [entry])
  return rows
}

describe('redriveEntry', () => {
  it('returns a dead letter to pending under the same key and bytes, on record, with rising attempt numbers (I3, I9)', async () => {
    const { delivery, entry } = await deadLetter('crm')
    const result = await redriveEntry(operator, entry, ANA, KEYLESS)
    expect(result).toMatchObject({ kind: 'redriven', destination: 'crm', nextAttempt: 2, paused: null })
    expect(await acts(entry)).toMatchObject([
      { actor: 'ana', action: 'redrive', reason: ANA.reason, detail: { from: 'dead_lettered', to: 'pending' } },
    ])
    expect(await checkPlacement(story.database)).toEqual([])
    const leased = await story.lease('crm')
    expect(leased.lease.attempt).toBe(2)
    await story.close(leased, ACCEPTED, FINISH)
    const timeline = await readTimeline(story.database, delivery)
    const attempts = timeline?.entries[0]?.attempts ?? []
    expect(attempts.map(({ number }) => number)).toEqual([1, 2])
    expect(new Set(attempts.map(({ keySent, digestSent }) => `${keySent} ${digestSent}`)).size).toBe(1)
  })

  it('lets one of many at once act; each other one is told (B090)', async () => {
    const { entry } = await deadLetter('crm-race')
    const results = await Promise.all(Array.from({ length: 8 }, () => redriveEntry(operator, entry, ANA, KEYLESS)))
    expect(results.filter((result) => result.kind === 'redriven')).toHaveLength(1)
    expect(results.filter((result) => result.kind === 'conflict')).toHaveLength(7)
    expect(await acts(entry)).toHaveLength(1)
  })

  it('refuses whatever may have taken effect or is still being worked on, changes nothing and says what to do', async () => {
    const held = await uncertain('held')
    expect(await redriveEntry(operator, held.entry, ANA, KEYLESS)).toMatchObject({
      kind: 'conflict',
      state: 'uncertain',
      next: expect.stringContaining('counterfoil settle'),
    })
    const delivery = await story.addDelivery()
    const entry = await story.addEntry(delivery, 'busy')
    expect(await redriveEntry(operator, entry, ANA, KEYLESS)).toMatchObject({ kind: 'conflict', state: 'pending' })
    const leased = await story.lease('busy')
    expect(await redriveEntry(operator, entry, ANA, KEYLESS)).toMatchObject({ kind: 'conflict', state: 'pending' })
    await story.close(leased, ACCEPTED, FINISH)
    expect(await redriveEntry(operator, entry, ANA, KEYLESS)).toMatchObject({ kind: 'conflict', state: 'delivered' })
    expect(await redriveEntry(operator, '00000000-0000-7000-8000-000000000000', ANA, KEYLESS)).toEqual({
      kind: 'not_found',
    })
    expect(await acts(entry)).toEqual([])
    expect(await acts(held.entry)).toEqual([])
  })

  it('refuses a dead letter about which a yes came late', async () => {
    const { entry } = await deadLetter('late')
    await story.pool.query(
      `INSERT INTO counterfoil.late_outcome (entry, number, token, worker, outcome, status)
       VALUES ($1, 1, gen_random_uuid(), 'w', 'accepted', 202)`,
      [entry],
    )
    expect(await redriveEntry(operator, entry, ANA, KEYLESS)).toMatchObject({ kind: 'refused', state: 'dead_lettered' })
  })

  it('refuses a dead letter whose content was erased', async () => {
    const { entry } = await deadLetter('erased')
    await story.pool.query('UPDATE counterfoil.entry SET body = NULL WHERE id = $1', [entry])
    expect(await redriveEntry(operator, entry, ANA, KEYLESS)).toMatchObject({
      kind: 'refused',
      why: 'its content was erased',
    })
  })
})

describe('redriveEntry of what is in doubt', () => {
  async function held(destination: string, sentKey: boolean) {
    const entry = await story.addEntry(await story.addDelivery(), destination)
    await story.attempt(destination, TIMED_OUT, { kind: 'hold', as: 'uncertain', because: 'attempts_used_up' }, sentKey)
    return entry
  }

  it('sends it again while its destination still recognises the key, and keeps the doubt (I6)', async () => {
    const entry = await held('doubt-a', true)
    const result = await redriveEntry(operator, entry, ANA, KEYED)
    expect(result).toMatchObject({ kind: 'redriven', nextAttempt: 2, protectedUntil: expect.any(Number) })
    expect(await checkPlacement(story.database)).toEqual([])
    const leased = await story.lease('doubt-a')
    expect(leased.history.uncertainSince).not.toBeNull()
    await story.close(leased, REFUSED, { kind: 'hold', as: 'uncertain', because: 'rejected_after_doubt' })
    const { rows } = await story.pool.query('SELECT state FROM counterfoil.entry WHERE id = $1', [entry])
    expect(rows).toEqual([{ state: 'uncertain' }])
  })

  it('refuses it without a key, after the key, and where what was sent carried none', async () => {
    const entry = await held('doubt-b', true)
    const over: DestinationContracts = {
      get: () => ({ idempotency: { kind: 'header', header: 'K', quoted: false, lifetimeMs: 1, marginMs: 0 } }),
    }
    const refused = { kind: 'conflict', state: 'uncertain', next: expect.stringContaining('counterfoil settle') }
    expect(await redriveEntry(operator, entry, ANA, KEYLESS)).toMatchObject(refused)
    expect(await redriveEntry(operator, entry, ANA, over)).toMatchObject({
      ...refused,
      why: expect.stringContaining('may have forgotten the key'),
    })
    const bare = await held('doubt-c', false)
    expect(await redriveEntry(operator, bare, ANA, KEYED)).toMatchObject({
      ...refused,
      why: expect.stringContaining('carried no key'),
    })
    expect([...(await acts(entry)), ...(await acts(bare))]).toEqual([])
  })

  it('refuses a dead letter whose destination was removed', async () => {
    const { entry } = await deadLetter('doubt-d')
    expect(await redriveEntry(operator, entry, ANA, new Map())).toMatchObject({
      kind: 'refused',
      why: 'doubt-d is no longer configured, so nobody would send it',
    })
  })
})

describe('cancelEntry', () => {
  it('stops what waits to be sent, on record, and nobody sends it any more (I9, I12)', async () => {
    const delivery = await story.addDelivery()
    const entry = await story.addEntry(delivery, 'cancel-a')
    await story.attempt(
      'cancel-a',
      { kind: 'deferred', status: 503, notBefore: null },
      {
        kind: 'retry',
        dueInMs: 0,
        because: 'deferred',
        spendsBudget: false,
      },
    )
    expect(await cancelEntry(operator, entry, ANA)).toMatchObject({ kind: 'cancelled', attempts: 1 })
    expect(await checkPlacement(story.database)).toEqual([])
    expect((await readTimeline(story.database, delivery))?.entries[0]).toMatchObject({
      state: 'cancelled',
      reason: 'by_person',
      acts: [{ action: 'cancel', actor: 'ana' }],
    })
    await expect(story.lease('cancel-a')).rejects.toThrow('nothing is due')
    expect(await cancelEntry(operator, entry, ANA)).toMatchObject({ kind: 'conflict', state: 'cancelled' })
    expect(await redriveEntry(operator, entry, ANA, KEYED)).toMatchObject({ kind: 'conflict', state: 'cancelled' })
  })

  it('refuses what is under way, what is in doubt, and what has ended', async () => {
    const entry = await story.addEntry(await story.addDelivery(), 'cancel-b')
    const leased = await story.lease('cancel-b')
    expect(await cancelEntry(operator, entry, ANA)).toMatchObject({
      kind: 'conflict',
      why: "attempt 1 is under way, and can't be called back",
    })
    await story.close(leased, TIMED_OUT, RETRY)
    expect(await cancelEntry(operator, entry, ANA)).toMatchObject({
      kind: 'refused',
      next: expect.stringContaining('counterfoil settle'),
    })
    await story.attempt('cancel-b', ACCEPTED, FINISH)
    expect(await cancelEntry(operator, entry, ANA)).toMatchObject({ kind: 'conflict', state: 'delivered' })
    expect(await acts(entry)).toEqual([])
  })

  it('and a lease at the same moment: exactly one of them gets it', async () => {
    for (let round = 0; round < 10; round += 1) {
      const entry = await story.addEntry(await story.addDelivery(), `cancel-race-${round}`)
      const [cancelled, leased] = await Promise.all([
        cancelEntry(operator, entry, ANA),
        story.lease(`cancel-race-${round}`).catch(() => null),
      ])
      expect(cancelled.kind === 'cancelled').toBe(leased === null)
    }
    expect(await checkPlacement(story.database)).toEqual([])
  })
})

describe('settleEntry', () => {
  it('closes an uncertain entry as what was found, by whom and on which evidence (I6)', async () => {
    const { delivery, entry } = await uncertain('settle-a')
    expect(await settleEntry(operator, entry, SETTLE)).toMatchObject({ kind: 'settled', as: 'delivered' })
    const timeline = await readTimeline(story.database, delivery)
    expect(timeline?.entries[0]).toMatchObject({
      state: 'settled',
      reason: 'delivered',
      acts: [{ actor: 'ana', action: 'settle', detail: { as: 'delivered', evidence: 'message m-17' } }],
    })
  })

  it('lets one of two at once settle; the other one is told who did (B090)', async () => {
    const { entry } = await uncertain('settle-b')
    const results = await Promise.all([
      settleEntry(operator, entry, SETTLE),
      settleEntry(operator, entry, { ...SETTLE, actor: 'bo', as: 'not_delivered' }),
    ])
    expect(results.map((result) => result.kind).sort()).toEqual(['conflict', 'settled'])
    const lost = results.find((result) => result.kind === 'conflict')
    expect(lost).toMatchObject({ why: expect.stringMatching(/(ana|bo) has already settled it/) })
    expect(await acts(entry)).toHaveLength(1)
  })

  it('refuses a decision on an older picture', async () => {
    const { entry } = await uncertain('settle-c')
    expect(await settleEntry(operator, entry, { ...SETTLE, seenAttempt: 0 })).toMatchObject({
      kind: 'conflict',
      why: 'there is an attempt 1 that you had not seen',
    })
    expect(await settleEntry(operator, entry, { ...SETTLE, seenAttempt: 1 })).toMatchObject({ kind: 'settled' })
  })

  it('refuses what is not held as uncertain', async () => {
    const { entry } = await deadLetter('settle-d')
    expect(await settleEntry(operator, entry, SETTLE)).toMatchObject({ kind: 'conflict', state: 'dead_lettered' })
    const pending = await story.addEntry(await story.addDelivery(), 'settle-e')
    expect(await settleEntry(operator, pending, SETTLE)).toMatchObject({ kind: 'conflict', state: 'pending' })
  })

  it('takes an entry that waits with its doubt open out of the queue, but not one that is being sent (I12)', async () => {
    const entry = await story.addEntry(await story.addDelivery(), 'settle-h')
    await story.attempt('settle-h', TIMED_OUT, RETRY)
    const leased = await story.lease('settle-h')
    expect(await settleEntry(operator, entry, SETTLE)).toMatchObject({
      kind: 'conflict',
      why: 'attempt 2 is under way, and its answer may decide it',
    })
    await story.close(leased, TIMED_OUT, RETRY)
    expect(await settleEntry(operator, entry, SETTLE)).toMatchObject({ kind: 'settled' })
    expect(await checkPlacement(story.database)).toEqual([])
    const { rows } = await story.pool.query('SELECT state, attempts FROM counterfoil.entry WHERE id = $1', [entry])
    expect(rows).toEqual([{ state: 'settled', attempts: 2 }])
  })

  it('lets what was settled as not delivered be redriven, and nothing else that was settled', async () => {
    const no = await uncertain('settle-f')
    await settleEntry(operator, no.entry, { ...SETTLE, as: 'not_delivered' })
    expect(await redriveEntry(operator, no.entry, ANA, KEYLESS)).toMatchObject({ kind: 'redriven', nextAttempt: 2 })
    expect(await checkPlacement(story.database)).toEqual([])
    const yes = await uncertain('settle-g')
    await settleEntry(operator, yes.entry, SETTLE)
    expect(await redriveEntry(operator, yes.entry, ANA, KEYLESS)).toMatchObject({ kind: 'refused', state: 'settled' })
  })
})

describe('releaseDestination', () => {
  it('resumes a paused destination once, on record', async () => {
    await ensureDestinations(story.database, ['paused'])
    await pauseDestination(story.database, 'paused', { reason: 'credentials', forMs: null, detail: null })
    const results = await Promise.all([
      releaseDestination(operator, 'paused', ANA),
      releaseDestination(operator, 'paused', ANA),
    ])
    expect(results.map((result) => result.kind).sort()).toEqual(['conflict', 'resumed'])
    const { rows } = await story.pool.query(`SELECT * FROM counterfoil.act WHERE destination = 'paused'`)
    expect(rows).toMatchObject([{ action: 'resume', actor: 'ana', detail: { from: 'credentials' } }])
    expect(await releaseDestination(operator, 'unheard-of', ANA)).toEqual({ kind: 'not_found' })
  })
})

describe('discardQuarantined', () => {
  it('drops a quarantined delivery once, and only a quarantined one', async () => {
    const delivery = await story.addDelivery({ disposition: 'quarantined' })
    const results = await Promise.all([
      discardQuarantined(operator, delivery, ANA),
      discardQuarantined(operator, delivery, ANA),
    ])
    expect(results.map((result) => result.kind).sort()).toEqual(['conflict', 'discarded'])
    expect(await discardQuarantined(operator, await story.addDelivery(), ANA)).toMatchObject({ kind: 'conflict' })
  })
})

describe('rights of the database roles', () => {
  it('let a viewer read everything on record and act on nothing', async () => {
    const { delivery, entry } = await deadLetter('viewer')
    expect((await readTimeline(viewer, delivery))?.entries).toHaveLength(1)
    const denied = { code: '42501' }
    await expect(redriveEntry(viewer, entry, ANA, KEYLESS)).rejects.toMatchObject(denied)
    await expect(settleEntry(viewer, entry, SETTLE)).rejects.toMatchObject(denied)
    await expect(releaseDestination(viewer, 'paused', ANA)).rejects.toMatchObject(denied)
    const forced = { source: 's', keyId: 'k', origin: 'https://x', deliveryId: null, bodySha256: '' }
    await expect(recordForcedPush(viewer, forced, ANA)).rejects.toMatchObject(denied)
    expect(await acts(entry)).toEqual([])
  })

  it('let a viewer not even pose as an operator', async () => {
    const posing = open(viewer.options.url, 'counterfoil_operator')
    await expect(posing.pool.query('SELECT 1')).rejects.toMatchObject({ code: '42501' })
    await posing.close()
  })

  it('let an operator neither change evidence nor delete an act', async () => {
    const { entry } = await deadLetter('evidence')
    await redriveEntry(operator, entry, ANA, KEYLESS)
    for (const sql of [
      'UPDATE counterfoil.act SET reason = $1',
      'DELETE FROM counterfoil.act WHERE reason = $1',
      'UPDATE counterfoil.attempt SET cause = $1',
      'UPDATE counterfoil.delivery SET reason = $1',
      'UPDATE counterfoil.entry SET idempotency_key = $1',
    ]) {
      await expect(operator.pool.query(sql, ['changed'])).rejects.toMatchObject({ code: '42501' })
      // Nor may the owner of the tables, whose rights are not in question.
      await expect(story.pool.query(sql, ['changed'])).rejects.toMatchObject({
        code: expect.stringMatching(/42501|23514/),
      })
    }
  })
})
