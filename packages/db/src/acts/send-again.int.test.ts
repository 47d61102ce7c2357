import { judgeDelivery } from '@counterfoil/core'
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
  type Story,
  TIMED_OUT,
} from '../audit/story.int-setup.js'
import type { Database } from '../connection/index.js'
import { checkPlacement } from '../outbox/index.js'
import { answerAgain, type DestinationContracts, requestAgain, settleEntry } from './index.js'

const KEYLESS: DestinationContracts = { get: () => ({ idempotency: { kind: 'none' } }) }
const ANA = { actor: 'ana', reason: 'customer lost the mail' }
const WISH = { ...ANA, approver: 'bo' }
const YES = { actor: 'bo', reason: 'called the customer', answer: 'approved' as const }
const NO = { ...YES, answer: 'declined' as const }

let story: Story
let database: Database

beforeAll(async () => {
  story = await openStory()
  database = open(story.url, 'counterfoil_operator')
})
afterAll(async () => {
  await database.close()
  await story.end()
})

async function delivered(destination: string, key?: string): Promise<{ delivery: string; entry: string }> {
  const delivery = await story.addDelivery()
  const entry = await story.addEntry(delivery, destination, key)
  await story.attempt(destination, ACCEPTED, FINISH)
  return { delivery, entry }
}

async function ask(entry: string): Promise<string> {
  const asked = await requestAgain(database, entry, WISH, KEYLESS)
  if (asked.kind !== 'requested') throw new Error(JSON.stringify(asked))
  return asked.request
}

async function readEntry(id: string) {
  const { rows } = await story.pool.query(
    `SELECT e.*, d.entry IS NOT NULL AS due FROM counterfoil.entry e LEFT JOIN counterfoil.due d ON d.entry = e.id
     WHERE e.id = $1`,
    [id],
  )
  return rows[0]
}

describe('sending again as new', () => {
  it('takes two people, and is a business action of its own with the same bytes under its own key (I3, I9)', async () => {
    const { delivery, entry } = await delivered('again-a', 'ticket-1:mail')
    const asked = await requestAgain(database, entry, WISH, KEYLESS)
    expect(asked).toMatchObject({ kind: 'requested', approver: 'bo', newKey: 'ticket-1:mail:again:1' })
    await expect(story.lease('again-a')).rejects.toThrow('nothing is due')
    const request = asked.kind === 'requested' ? asked.request : ''
    const approved = await answerAgain(database, request, YES, KEYLESS)
    expect(approved).toMatchObject({ kind: 'approved', newKey: 'ticket-1:mail:again:1' })
    const [old, made] = [await readEntry(entry), await readEntry(approved.kind === 'approved' ? approved.entry : '')]
    expect(made).toMatchObject({ delivery, due: true, state: 'pending', body: old.body, body_digest: old.body_digest })
    expect(await checkPlacement(story.database)).toEqual([])
    await story.attempt('again-a', ACCEPTED, FINISH)
    const timeline = await readTimeline(story.database, delivery)
    if (timeline === null) throw new Error('no timeline')
    expect(timeline.entries[1]?.again).toEqual({
      of: entry,
      root: entry,
      number: 1,
      requestedBy: 'ana',
      approvedBy: 'bo',
    })
    const { headline } = judgeDelivery(timeline)
    expect(headline.kind).toBe('possibly_delivered_more_than_once')
    expect(headline.sentence).toContain('There are 2 business actions for it')
    const { rows } = await story.pool.query(
      'SELECT actor, action FROM counterfoil.act WHERE entry = $1 ORDER BY acted_at',
      [entry],
    )
    expect(rows).toEqual([
      { actor: 'ana', action: 'send_again' },
      { actor: 'bo', action: 'approve' },
    ])
  })

  it('is approved by nobody but the one who was asked, and only once (B090)', async () => {
    const { entry } = await delivered('again-b')
    const request = await ask(entry)
    for (const actor of ['ana', 'cy']) {
      expect(await answerAgain(database, request, { ...YES, actor }, KEYLESS)).toMatchObject({ kind: 'refused' })
    }
    const answers = await Promise.all([1, 2, 3].map(() => answerAgain(database, request, YES, KEYLESS)))
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['approved', 'conflict', 'conflict'])
    const { rows } = await story.pool.query(`SELECT FROM counterfoil.entry WHERE destination = 'again-b'`)
    expect(rows).toHaveLength(2)
    await expect(
      story.pool.query(
        `INSERT INTO counterfoil.again_request (id, entry, root, number, idempotency_key, requested_by, approver, reason, seen_version, act)
         VALUES (gen_random_uuid(), $1, $1, 9, 'k', 'ana', 'ana', 'x', 'v', gen_random_uuid())`,
        [entry],
      ),
    ).rejects.toMatchObject({ code: '23514' })
    const other = (await delivered('again-b2')).entry
    const forged = await ask(other)
    await expect(
      story.pool.query(
        `INSERT INTO counterfoil.again_answer (request, answer, answered_by, entry, act)
         VALUES ($1, 'approved', 'ana', gen_random_uuid(), gen_random_uuid())`,
        [forged],
      ),
    ).rejects.toMatchObject({ code: '23514' })
  })

  it('waits for one answer at a time; a declined request sends nothing, and the next one has a new number', async () => {
    const { entry } = await delivered('again-c', 'c')
    const request = await ask(entry)
    expect(await requestAgain(database, entry, WISH, KEYLESS)).toMatchObject({
      kind: 'conflict',
      why: expect.stringContaining('waits for the answer of bo'),
    })
    expect(await answerAgain(database, request, { ...NO, actor: 'cy' }, KEYLESS)).toMatchObject({ kind: 'refused' })
    expect(await answerAgain(database, request, { ...NO, actor: 'ana' }, KEYLESS)).toMatchObject({ kind: 'declined' })
    expect(await answerAgain(database, request, YES, KEYLESS)).toMatchObject({ kind: 'conflict', state: 'declined' })
    expect(await requestAgain(database, entry, WISH, KEYLESS)).toMatchObject({ newKey: 'c:again:2' })
  })

  it('counts by family: sending again what was sent again keeps the first key', async () => {
    const { entry } = await delivered('again-d', 'd')
    const approved = await answerAgain(database, await ask(entry), YES, KEYLESS)
    await story.attempt('again-d', ACCEPTED, FINISH)
    const second = approved.kind === 'approved' ? approved.entry : ''
    expect(await requestAgain(database, second, WISH, KEYLESS)).toMatchObject({ newKey: 'd:again:2' })
  })

  it('is allowed for what is in doubt, which stays in doubt (I6)', async () => {
    const entry = await story.addEntry(await story.addDelivery(), 'again-e')
    await story.attempt('again-e', TIMED_OUT, HOLD, false)
    expect(await answerAgain(database, await ask(entry), YES, KEYLESS)).toMatchObject({ kind: 'approved' })
    expect(await readEntry(entry)).toMatchObject({ state: 'uncertain' })
  })

  it('is refused, each time with its reason, and leaves no act behind', async () => {
    const pending = await story.addEntry(await story.addDelivery(), 'again-f')
    const refused = async (entry: string, destinations: DestinationContracts = KEYLESS) =>
      requestAgain(database, entry, WISH, destinations)
    expect(await refused(pending)).toMatchObject({ kind: 'conflict', state: 'pending' })
    await story.attempt('again-f', REFUSED, DEAD_LETTER)
    expect(await refused(pending)).toMatchObject({ kind: 'refused', next: expect.stringContaining('redrive') })
    const carried = (await delivered('again-g', '"n":1')).entry
    expect(await refused(carried)).toMatchObject({ kind: 'refused', why: expect.stringContaining('carries the key') })
    const long = (await delivered('again-h', 'k'.repeat(250))).entry
    expect(await refused(long)).toMatchObject({ kind: 'refused', why: expect.stringContaining('longer than 255') })
    const gone = (await delivered('again-i')).entry
    expect(await refused(gone, new Map())).toMatchObject({
      why: 'again-i is no longer configured, so nobody would send it',
    })
    await story.pool.query('UPDATE counterfoil.entry SET body = NULL WHERE id = $1', [gone])
    expect(await refused(gone)).toMatchObject({ why: 'its content was erased' })
    expect(await refused('00000000-0000-7000-8000-000000000000')).toEqual({ kind: 'not_found' })
    const { rows } = await story.pool.query('SELECT FROM counterfoil.act WHERE entry = ANY ($1)', [
      [pending, carried, long, gone],
    ])
    expect(rows).toEqual([])
  })

  it('is refused when the entry has changed since it was asked for', async () => {
    const entry = await story.addEntry(await story.addDelivery(), 'again-j')
    await story.attempt('again-j', TIMED_OUT, HOLD, false)
    const request = await ask(entry)
    await settleEntry(database, entry, { ...ANA, as: 'not_delivered', evidence: 'asked them', seenAttempt: null })
    expect(await answerAgain(database, request, YES, KEYLESS)).toMatchObject({
      kind: 'conflict',
      why: 'the entry has changed since ana asked',
    })
    expect(await answerAgain(database, request, NO, KEYLESS)).toMatchObject({ kind: 'declined' })
  })

  it('is beyond the rights of a viewer, and its record is beyond everybody', async () => {
    const viewer = open(story.url, 'counterfoil_viewer')
    const { entry } = await delivered('again-k')
    const denied = { code: '42501' }
    await expect(requestAgain(viewer, entry, WISH, KEYLESS)).rejects.toMatchObject(denied)
    await viewer.close()
    for (const table of ['again_request', 'again_answer']) {
      await expect(story.pool.query(`DELETE FROM counterfoil.${table}`)).rejects.toMatchObject(denied)
    }
  })
})
