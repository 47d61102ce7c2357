import { until } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { arrive, type Intake, newId, notify, openIntake, openStore, push, results } from './intake.int-setup.js'

describe('claims that race', () => {
  let intake: Intake
  beforeAll(async () => {
    intake = await openIntake()
  })
  afterAll(() => intake.close())

  const blockedSessions = () =>
    intake.count("pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")

  it('gives 50 copies that come through two stores one first and the numbers 2 to 50 (I2) (case B025: copies at the same moment)', async () => {
    const other = openStore(intake.database)
    const stores = [intake.store, other]
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        stores[index % 2]?.claim(push({ deliveryId: 'copies', actions: [notify('copies')] }), {
          deadlineAt: performance.now() + 10_000,
        }),
      ),
    )
    const numbers = answers.flatMap((answer) => (answer === undefined ? [] : (results(answer)[0]?.observation ?? [])))
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(await intake.count("counterfoil.delivery WHERE delivery_id = 'copies'")).toBe(1)
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'copies'")).toBe(1)
    expect(await intake.count("counterfoil.observation WHERE kind = 'duplicate'")).toBe(49)
  })

  it('answers a copy only after the winner committed (case B025: copies at the same moment)', async () => {
    const winner = await intake.stranger()
    await winner.query('BEGIN')
    const id = newId()
    await winner.query(
      `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, disposition)
       VALUES ($1, 'queue', 'held-winner', $2, 'act')`,
      [id, arrive({ deliveryId: 'held-winner' }).identityDigest],
    )
    await winner.query(
      `INSERT INTO counterfoil.observation (delivery, number, id, kind, key_id, instance)
       VALUES ($1, 1, $2, 'first', 'k', 'other')`,
      [id, newId()],
    )
    let answered = false
    const copy = intake.claim(push({ deliveryId: 'held-winner' })).finally(() => {
      answered = true
    })
    await until(async () => (await blockedSessions()) > 0)
    expect(answered).toBe(false)
    await winner.query('COMMIT')
    expect(results(await copy)).toMatchObject([{ kind: 'duplicate', deliveryUuid: id, observation: 2 }])
  })

  it('makes a waiting copy the winner when the first one is rolled back (case B025: copies at the same moment)', async () => {
    const winner = await intake.stranger()
    await winner.query('BEGIN')
    await winner.query(
      `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, disposition)
       VALUES ($1, 'queue', 'lost-winner', $2, 'act')`,
      [newId(), Buffer.alloc(32)],
    )
    const copies = [1, 2, 3].map(() => intake.claim(push({ deliveryId: 'lost-winner' })))
    await until(async () => (await blockedSessions()) > 0)
    await winner.query('ROLLBACK')
    const kinds = (await Promise.all(copies)).map((answer) => results(answer)[0]?.kind)
    expect(kinds.sort()).toEqual(['duplicate', 'duplicate', 'first'])
  })

  it('lets a claim that a stranger holds delay nobody else for long', async () => {
    const stranger = await intake.stranger()
    await stranger.query('BEGIN')
    await stranger.query(
      `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, disposition)
       VALUES ($1, 'queue', 'stuck', $2, 'act')`,
      [newId(), Buffer.alloc(32)],
    )
    const startedAt = performance.now()
    const stuck = intake.claim(push({ deliveryId: 'stuck' }))
    await Promise.all(Array.from({ length: 200 }, (_, index) => intake.claim(push({ deliveryId: `free-${index}` }))))
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    await stranger.query('ROLLBACK')
    expect(results(await stuck)[0]?.kind).toBe('first')
  })

  it('links to an entry whose transaction was still open when the claim began (I3) (case B031: which id the action has)', async () => {
    const other = await intake.stranger()
    const standing = arrive({ deliveryId: 'elsewhere', actions: [notify('racing-key')] })
    const entry = standing.disposition.kind === 'act' ? standing.disposition.entries[0] : undefined
    await other.query('BEGIN')
    await other.query(
      `INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
       VALUES ($1, $2, 'crm', 'racing-key', $3, $4, 'text/plain')`,
      [entry?.id, standing.id, entry?.body, entry?.bodyDigest],
    )
    const claim = intake.claim(push({ deliveryId: 'racing', actions: [notify('racing-key')] }))
    await until(async () => (await blockedSessions()) > 0)
    await other.query('COMMIT')
    const [first] = results(await claim)
    expect(first?.kind).toBe('first')
    expect(
      await intake.count('counterfoil.entry_link WHERE delivery = $1 AND entry = $2', first?.deliveryUuid, entry?.id),
    ).toBe(1)
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'racing-key'")).toBe(1)
  })

  it('writes one entry for copies of a key inside one batch (case B031: which id the action has)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        intake.claim(push({ deliveryId: `one-batch-${index}`, actions: [notify('one-batch')] })),
      ),
    )
    expect(answers.flatMap((answer) => results(answer)).every((result) => result.kind === 'first')).toBe(true)
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'one-batch'")).toBe(1)
    const links =
      "counterfoil.entry_link l JOIN counterfoil.entry e ON e.id = l.entry WHERE e.idempotency_key = 'one-batch'"
    expect(await intake.count(links)).toBe(19)
  })

  it('holds no entry while it waits for a claim', async () => {
    const [holder, other] = [await intake.stranger(), await intake.stranger()]
    await holder.query('BEGIN')
    await holder.query(
      `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, disposition)
       VALUES ($1, 'queue', 'phase-b', $2, 'act')`,
      [newId(), Buffer.alloc(32)],
    )
    const claim = intake.claim(push({ deliveryId: 'phase-a', actions: [notify('phase')] }, { deliveryId: 'phase-b' }))
    await until(async () => (await blockedSessions()) > 0)
    await other.query('BEGIN')
    await other.query("SET LOCAL lock_timeout = '50ms'")
    await other.query(
      `INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
       VALUES ($1, $1, 'crm', 'phase', '', $2, 'text/plain')`,
      [newId(), Buffer.alloc(32)],
    )
    await other.query('ROLLBACK')
    await holder.query('ROLLBACK')
    expect(results(await claim).map((result) => result.kind)).toEqual(['first', 'first'])
  })

  it('takes a reference that is named twice once', async () => {
    const twice = arrive({ deliveryId: 'twice' })
    const [reference] = twice.references
    if (reference === undefined) return
    const references = [reference, { ...reference, personal: true }, reference]
    const answer = await intake.claim({ deliveries: [{ ...twice, references }] })
    expect(results(answer)[0]?.kind).toBe('first')
    expect(await intake.count('counterfoil.reference WHERE delivery = $1 AND personal', twice.id)).toBe(1)
  })

  it('meets no deadlock when 300 crossing batches of two stores want the same ids and keys (case B036: deadlock between pushes)', async () => {
    const other = openStore(intake.database)
    const before = await readDeadlocks()
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, round) => {
        const names = Array.from({ length: 8 }, (_, index) => `cross-${(round * 7 + index * 3) % 40}`)
        const ordered = round % 2 === 0 ? names : names.reverse()
        const plans = [...new Set(ordered)].map((name) => ({ deliveryId: name, actions: [notify(`key-of-${name}`)] }))
        const store = round % 2 === 0 ? intake.store : other
        return store.claim(push(...plans), { deadlineAt: performance.now() + 20_000 })
      }),
    )
    expect(answers.every((answer) => answer.kind === 'committed')).toBe(true)
    expect(await intake.count("counterfoil.delivery WHERE delivery_id LIKE 'cross-%'")).toBe(40)
    expect(await intake.count("counterfoil.entry WHERE idempotency_key LIKE 'key-of-cross-%'")).toBe(40)
    expect(await readDeadlocks()).toBe(before)
  })

  async function readDeadlocks(): Promise<number> {
    const { rows } = await intake.database.pool.query<{ n: number }>(
      'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()',
    )
    return rows[0]?.n ?? 0
  }
})
