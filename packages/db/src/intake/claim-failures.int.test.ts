import { endsWithReadyForQuery, mentions, startTcpProxy, type TcpProxy, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { arrive, type Intake, notify, openIntake, push, results } from './intake.int-setup.js'

describe('claims when the database fails', () => {
  let intake: Intake
  let proxy: TcpProxy
  beforeEach(async () => {
    let made: TcpProxy | null = null
    const port = Number(new URL(process.env.TESTKIT_POSTGRES_URL ?? '').port)
    made = await startTcpProxy({ target: { port } })
    proxy = made
    intake = await openIntake({ through: (url) => proxy.through(url), statementTimeoutMs: 1_000 })
  })
  afterEach(async () => {
    proxy.restore()
    await intake.close()
    await proxy.close()
  })

  const poison = (deliveryId: string) => ({ deliveries: [{ ...arrive({ deliveryId }), eventType: 'a\0b' }] })

  it('finds the one push that the database refuses and commits the other 255 (case B035: one refused statement that poisons its batch)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 256 }, (_, index) =>
        intake.claim(index === 100 ? poison('poison') : push({ deliveryId: `sound-${index}` })),
      ),
    )
    expect(answers.filter((answer) => answer.kind === 'committed')).toHaveLength(255)
    expect(answers[100]).toEqual({ kind: 'unavailable', cause: 'sqlstate 22021' })
    expect(await intake.count('counterfoil.delivery')).toBe(255)
  })

  it('counts nothing twice when the reply of the commit is lost and the batch runs again (I2)', async () => {
    proxy.arm({
      kind: 'lose_reply',
      when: mentions('counterfoil_claim_deliveries'),
      how: 'cut',
      isComplete: endsWithReadyForQuery,
    })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        intake.claim(push({ deliveryId: `lost-${index % 10}`, actions: [notify(`lost-${index % 10}`)] })),
      ),
    )
    expect(proxy.struck()).toBe(1)
    const kinds = answers.map((answer) => results(answer)[0]?.kind)
    expect(kinds.filter((kind) => kind === 'first')).toHaveLength(10)
    expect(kinds.filter((kind) => kind === 'duplicate')).toHaveLength(10)
    expect(await intake.count('counterfoil.delivery')).toBe(10)
    expect(await intake.count('counterfoil.observation')).toBe(20)
    expect(await intake.count('counterfoil.entry')).toBe(10)
    expect(await intake.count('counterfoil.due')).toBe(10)
  })

  it('counts a duplicate once when the reply of its observation is lost', async () => {
    results(await intake.claim(push({ deliveryId: 'seen' })))
    proxy.arm({
      kind: 'lose_reply',
      when: mentions('counterfoil_recognise_arrivals'),
      how: 'cut',
      isComplete: endsWithReadyForQuery,
    })
    expect(results(await intake.claim(push({ deliveryId: 'seen' })))).toMatchObject([
      { kind: 'duplicate', observation: 2 },
    ])
    expect(proxy.struck()).toBe(1)
    expect(await intake.count('counterfoil.observation')).toBe(2)
  })

  it('applies a transition once when the reply of its COMMIT is lost (I8)', async () => {
    await intake.hold('seat', -1_000)
    proxy.arm({ kind: 'lose_reply', when: mentions('COMMIT'), how: 'cut', isComplete: endsWithReadyForQuery })
    const answer = await intake.claim(push({ deliveryId: 'seat', expires: 'seat' }))
    expect(proxy.struck()).toBe(1)
    expect(results(answer)).toMatchObject([{ kind: 'first', outcome: 'applied', observation: 1 }])
    expect(await intake.count('counterfoil.transition_outcome')).toBe(1)
    expect(await intake.count('counterfoil.entry')).toBe(1)
  })

  it('goes on when all its sessions are terminated in the middle of a batch (case B038: dead connections in the pool)', async () => {
    const answers = Array.from({ length: 300 }, (_, index) => intake.claim(push({ deliveryId: `cut-${index}` })))
    await intake.count(
      "(SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'intake-store' AND datname = current_database()) t",
    )
    expect((await Promise.all(answers)).every((answer) => answer.kind === 'committed')).toBe(true)
    expect(await intake.count('counterfoil.delivery')).toBe(300)
    expect(await intake.count('counterfoil.observation')).toBe(300)
  })

  it('answers in doubt when the deadline passes during the commit, and says later that it landed', async () => {
    results(await intake.claim(push({ deliveryId: 'warm' })))
    proxy.delay(400)
    const answer = await intake.claim(push({ deliveryId: 'slow' }), 200)
    expect(answer).toMatchObject({ kind: 'in_doubt', cause: 'deadline' })
    if (answer.kind !== 'in_doubt') return
    expect(await answer.later).toMatchObject({ kind: 'committed', results: [{ kind: 'first' }] })
    expect(await intake.count("counterfoil.delivery WHERE delivery_id = 'slow'")).toBe(1)
  })

  it('answers by the deadline while the server is a black hole, and recovers alone', async () => {
    results(await intake.claim(push({ deliveryId: 'before' })))
    proxy.pause()
    const startedAt = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) => intake.claim(push({ deliveryId: `hole-${index}` }), 500)),
    )
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    expect(answers.every((answer) => answer.kind === 'in_doubt')).toBe(true)
    proxy.restore()
    const after = await until(async () => {
      const answer = await intake.claim(push({ deliveryId: 'after' }), 1_000)
      return answer.kind === 'committed' ? answer : null
    })
    expect(after.kind).toBe('committed')
  })

  it('answers unavailable by the deadline while no connection can be made', async () => {
    proxy.refuse()
    const answer = await intake.claim(push({ deliveryId: 'refused' }), 300)
    // The deadline may pass during a try or between two: in doubt at first, then, but never for good.
    const last = answer.kind === 'in_doubt' ? await answer.later : answer
    expect(last).toMatchObject({ kind: 'unavailable', cause: expect.stringMatching(/ECONN|connection lost/) })
    proxy.restore()
    expect((await intake.claim(push({ deliveryId: 'refused' }), 5_000)).kind).toBe('committed')
  })

  it('gives a read-only server up at once, evicts its connection and works again when it may write (case B038: dead connections in the pool)', async () => {
    results(await intake.claim(push({ deliveryId: 'writable' })))
    const name = new URL(intake.url).pathname.slice(1)
    const stranger = await intake.stranger()
    await stranger.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await intake.count(
      "(SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'intake-store' AND datname = current_database()) t",
    )
    const refused = await until(async () => {
      const answer = await intake.claim(push({ deliveryId: 'read-only' }))
      return answer.kind === 'unavailable' ? answer : null
    })
    expect(refused).toEqual({ kind: 'unavailable', cause: 'sqlstate 25006' })
    await stranger.query(`SET default_transaction_read_only = off`)
    await stranger.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)
    expect((await intake.claim(push({ deliveryId: 'read-only' }))).kind).toBe('committed')
  })

  it('refuses what its queue has no room for, and takes nothing while it drains', async () => {
    proxy.pause()
    const bodies = Array.from({ length: 70 }, (_, index) =>
      intake.claim(push({ deliveryId: `big-${index}`, body: 'x'.repeat(1024 * 1024) }), 600),
    )
    const answers = await Promise.all(bodies)
    expect(
      answers.filter((answer) => answer.kind === 'not_started' && answer.cause === 'queue_full').length,
    ).toBeGreaterThan(0)
    expect(intake.store.depth()).toEqual({ pushes: 0, bytes: 0 })
    proxy.restore()
    const draining = intake.store.drain()
    expect(await intake.claim(push({ deliveryId: 'late' }))).toEqual({ kind: 'not_started', cause: 'draining' })
    await draining
  })
})
