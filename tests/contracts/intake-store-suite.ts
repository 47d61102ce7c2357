import type { IntakeStore, PlannedDelivery, PlannedTransition, TransitionOutcome } from '@counterfoil/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { act, arrive, expire, newId, notify, transition } from './intake-plans.js'

/** What the suite may look at beside the port itself. */
export type IntakeWorld = {
  readonly store: IntakeStore
  /** Puts a hold whose deadline is `dueInMs` from now by the clock that decides; answers that deadline. */
  putHold(id: string, state: string, dueInMs: number): Promise<number>
  readHold(id: string): Promise<string>
  /** Moves the clock, or waits, until this hold is due. */
  untilDue(id: string): Promise<void>
  observations(deliveryUuid: string): Promise<readonly { number: number; kind: string }[]>
  outcomes(deliveryUuid: string): Promise<readonly { outcome: TransitionOutcome; decidedBy: string; subject: string }[]>
  entries(destination: string, key: string): Promise<readonly { id: string; delivery: string; body: string }[]>
  links(entry: string): Promise<readonly { delivery: string; bodyDiffers: boolean }[]>
  claims(source: string, deliveryId: string): Promise<number>
  refusals(deliveryId: string): Promise<readonly number[]>
  conflictBodies(deliveryUuid: string): Promise<readonly string[]>
  deferred(deliveryUuid: string): Promise<boolean>
  acks(deliveryUuid: string): Promise<number>
  unclaimed(deliveryId: string): Promise<number>
  /** A push that the store must refuse, through no fault of its neighbours. */
  poison(deliveryId: string): Promise<PlannedDelivery>
  applyDeferred(plan: () => PlannedTransition | null): Promise<{ applied: number; destinations: readonly string[] }>
  sweep(): Promise<{ applied: number; destinations: readonly string[] }>
  close(): Promise<void>
}

/** What every intake store promises, whatever it keeps things in. */
export function describeIntakeStore(name: string, open: () => Promise<IntakeWorld>): void {
  describe(`the intake store ${name}`, () => {
    let world: IntakeWorld
    beforeAll(async () => {
      world = await open()
    })
    afterAll(() => world?.close())

    const claim = (...deliveries: PlannedDelivery[]) =>
      world.store.claim({ deliveries }, { deadlineAt: performance.now() + 10_000 })
    const claimed = async (delivery: PlannedDelivery) => {
      const result = await claim(delivery)
      if (result.kind !== 'committed') throw new Error(`not committed: ${JSON.stringify(result)}`)
      const [first] = result.results
      if (first === undefined) throw new Error('no result')
      return first
    }

    it('claims 50 concurrent copies once and numbers the other 49 (I2)', async () => {
      const copies = Array.from({ length: 50 }, () =>
        arrive({ deliveryId: 'copies', disposition: act([notify('copies')]) }),
      )
      const results = await Promise.all(copies.map((copy) => claimed(copy)))
      expect(results.filter((result) => result.kind === 'first')).toHaveLength(1)
      expect(results.filter((result) => result.kind === 'duplicate')).toHaveLength(49)
      const numbers = results.map((result) => result.observation).sort((a, b) => a - b)
      expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
      const uuids = new Set(results.map((result) => result.deliveryUuid))
      expect(uuids.size).toBe(1)
      expect(await world.claims('queue', 'copies')).toBe(1)
      expect(await world.observations([...uuids][0] ?? '')).toHaveLength(50)
      expect(await world.entries('crm', 'copies')).toHaveLength(1)
    })

    it('counts the same arrival once, however often its commit is tried (I2)', async () => {
      const delivery = arrive({ deliveryId: 'again', disposition: act([notify('again')]) })
      const copy = arrive({ deliveryId: 'again' })
      const first = await claimed(delivery)
      expect(await claimed(copy)).toMatchObject({ kind: 'duplicate', observation: 2 })
      expect(await claimed(delivery)).toEqual(first)
      expect(await world.observations(first.deliveryUuid)).toHaveLength(2)
    })

    it('keeps ids of other sources and other spellings apart', async () => {
      const kinds = [
        await claimed(arrive({ deliveryId: 'ABC-1', source: 'a' })),
        await claimed(arrive({ deliveryId: 'ABC-1', source: 'b' })),
        await claimed(arrive({ deliveryId: 'abc-1', source: 'a' })),
        await claimed(arrive({ deliveryId: 'ABC\u20111', source: 'a' })),
        await claimed(arrive({ deliveryId: 'ABC-1', source: 'a' })),
      ].map((result) => result.kind)
      expect(kinds).toEqual(['first', 'first', 'first', 'first', 'duplicate'])
    })

    it('keeps a conflict with its bytes: same id, other identity digest', async () => {
      const first = await claimed(arrive({ deliveryId: 'conflict', body: 'one' }))
      const second = await claimed(arrive({ deliveryId: 'conflict', body: 'two', disposition: act([notify('never')]) }))
      expect(second).toMatchObject({ kind: 'conflict', deliveryUuid: first.deliveryUuid, observation: 2 })
      expect(await world.conflictBodies(first.deliveryUuid)).toEqual(['two'])
      expect(await world.observations(first.deliveryUuid)).toEqual([
        { number: 1, kind: 'first' },
        { number: 2, kind: 'conflict' },
      ])
      expect(await world.entries('crm', 'never')).toEqual([])
    })

    it('links a second delivery under one business key instead of writing a second entry (I3)', async () => {
      const one = await claimed(arrive({ deliveryId: 'key-1', disposition: act([notify('one-key', 'a')]) }))
      const two = await claimed(arrive({ deliveryId: 'key-2', disposition: act([notify('one-key', 'a')]) }))
      const other = await claimed(arrive({ deliveryId: 'key-3', disposition: act([notify('one-key', 'b')]) }))
      const entries = await world.entries('crm', 'one-key')
      expect(entries).toMatchObject([{ delivery: one.deliveryUuid, body: 'a' }])
      expect(await world.links(entries[0]?.id ?? '')).toEqual([
        { delivery: two.deliveryUuid, bodyDiffers: false },
        { delivery: other.deliveryUuid, bodyDiffers: true },
      ])
    })

    it('names the destinations that got a new entry, so that they can be woken', async () => {
      const delivery = arrive({ deliveryId: 'wake', disposition: act([notify('wake')]) })
      expect(await claim(delivery)).toMatchObject({ kind: 'committed', destinations: ['crm'] })
      expect(await claim(arrive({ deliveryId: 'wake', disposition: act([notify('wake')]) }))).toMatchObject({
        destinations: [],
      })
    })

    it('keeps ignored and quarantined deliveries with nothing to do', async () => {
      const ignored = arrive({ deliveryId: 'ignored', disposition: { kind: 'ignored', reason: 'no route' } })
      const odd = arrive({ deliveryId: 'odd', disposition: { kind: 'quarantined', reason: 'schema' } })
      expect(await claimed(ignored)).toMatchObject({ kind: 'first', outcome: null })
      expect(await claimed(odd)).toMatchObject({ kind: 'first', outcome: null })
    })

    it('leaves nothing of a refused push, and takes it when it comes again', async () => {
      const poison = await world.poison('poison')
      const neighbours = Array.from({ length: 9 }, (_, index) => arrive({ deliveryId: `neighbour-${index}` }))
      const [refused, ...others] = await Promise.all([claim(poison), ...neighbours.map((one) => claim(one))])
      expect(refused).toMatchObject({ kind: 'unavailable' })
      expect(others.map((result) => result.kind)).toEqual(neighbours.map(() => 'committed'))
      expect(await world.claims('queue', 'poison')).toBe(0)
      expect(await claimed(arrive({ deliveryId: 'poison' }))).toMatchObject({ kind: 'first' })
    })

    it('claims a push of several deliveries all or nothing', async () => {
      const poison = await world.poison('batch-b')
      const refused = await claim(arrive({ deliveryId: 'batch-a' }), poison)
      expect(refused).toMatchObject({ kind: 'unavailable' })
      expect(await world.claims('queue', 'batch-a')).toBe(0)
      const taken = await claim(arrive({ deliveryId: 'batch-a' }), arrive({ deliveryId: 'batch-b' }))
      expect(taken).toMatchObject({ kind: 'committed', results: [{ kind: 'first' }, { kind: 'first' }] })
    })

    it('applies a due transition once and writes its actions (I8)', async () => {
      const dueAt = await world.putHold('due', 'held', -1000)
      const [one, two] = await Promise.all([
        claimed(arrive({ deliveryId: 'due-1', disposition: transition(expire('due', 'discard', dueAt)) })),
        claimed(arrive({ deliveryId: 'due-2', disposition: transition(expire('due', 'discard', dueAt)) })),
      ])
      expect([one.outcome, two.outcome].sort()).toEqual(['applied', 'no_longer_held'])
      expect(await world.readHold('due')).toBe('expired')
      expect(await world.entries('carrier', 'expire:due')).toHaveLength(1)
    })

    it('says the outcome on record to a duplicate', async () => {
      await world.putHold('repeat', 'held', -1000)
      const delivery = () => arrive({ deliveryId: 'repeat', disposition: transition(expire('repeat', 'discard')) })
      expect(await claimed(delivery())).toMatchObject({ kind: 'first', outcome: 'applied' })
      expect(await claimed(delivery())).toMatchObject({ kind: 'duplicate', outcome: 'applied' })
    })

    it('leaves a paid row paid (I8)', async () => {
      await world.putHold('paid', 'paid', -1000)
      const result = await claimed(arrive({ deliveryId: 'paid', disposition: transition(expire('paid', 'discard')) }))
      expect(result.outcome).toBe('no_longer_held')
      expect(await world.readHold('paid')).toBe('paid')
      expect(await world.entries('carrier', 'expire:paid')).toEqual([])
    })

    it('lets the event of an earlier deadline pass an extended hold by', async () => {
      const dueAt = await world.putHold('extended', 'held', -1)
      await world.putHold('extended', 'held', 60_000)
      const asked = transition(expire('extended', 'refuse', dueAt))
      const result = await claimed(arrive({ deliveryId: 'extended', disposition: asked }))
      expect(result.outcome).toBe('superseded')
      expect(await world.readHold('extended')).toBe('held')
    })

    it('says not_found of a row that is not there', async () => {
      const asked = transition(expire('nowhere', 'discard'))
      expect(await claimed(arrive({ deliveryId: 'nowhere', disposition: asked }))).toMatchObject({
        outcome: 'not_found',
      })
    })

    it('discards an early event where the owner says so', async () => {
      await world.putHold('discard', 'held', 60_000)
      const asked = transition(expire('discard', 'discard'))
      const result = await claimed(arrive({ deliveryId: 'discard', disposition: asked }))
      expect(result.outcome).toBe('not_due')
      expect(await world.deferred(result.deliveryUuid)).toBe(false)
    })

    it('refuses an early event without a claim, so that its redelivery is not absorbed', async () => {
      const dueAt = await world.putHold('refuse', 'held', 400)
      const delivery = () =>
        arrive({ deliveryId: 'refuse', disposition: transition(expire('refuse', 'refuse', dueAt)) })
      const early = await claim(delivery())
      expect(early).toMatchObject({ kind: 'refused', outcome: 'not_due' })
      if (early.kind === 'refused') expect(early.retryAfterMs).toBeGreaterThan(0)
      if (early.kind === 'refused') expect(early.retryAfterMs).toBeLessThanOrEqual(400)
      expect(await world.claims('queue', 'refuse')).toBe(0)
      expect(await world.refusals('refuse')).toHaveLength(1)
      await world.untilDue('refuse')
      expect(await claimed(delivery())).toMatchObject({ kind: 'first', outcome: 'applied' })
    })

    it('defers an early event and applies it when its time has come', async () => {
      await world.putHold('defer', 'held', 300)
      const asked = expire('defer', 'defer')
      const first = await claimed(arrive({ deliveryId: 'defer', disposition: transition(asked) }))
      expect(first.outcome).toBe('not_due')
      expect(await world.deferred(first.deliveryUuid)).toBe(true)
      expect((await world.applyDeferred(() => asked)).applied).toBe(0)
      await world.untilDue('defer')
      expect(await world.applyDeferred(() => asked)).toMatchObject({ applied: 1, destinations: ['carrier'] })
      expect(await world.outcomes(first.deliveryUuid)).toEqual([
        { outcome: 'not_due', decidedBy: 'push', subject: 'defer' },
        { outcome: 'applied', decidedBy: 'deferral', subject: 'defer' },
      ])
      expect(await world.deferred(first.deliveryUuid)).toBe(false)
      expect(await world.readHold('defer')).toBe('expired')
      expect(await world.entries('carrier', 'expire:defer')).toHaveLength(1)
    })

    it('sweeps a row that no push came for, and the late push adds nothing', async () => {
      const dueAt = await world.putHold('swept', 'held', -5000)
      expect((await world.sweep()).applied).toBeGreaterThanOrEqual(1)
      expect(await world.readHold('swept')).toBe('expired')
      expect(await world.claims('sweep', `expire_hold:swept:${dueAt}`)).toBe(1)
      const late = arrive({ deliveryId: 'late', disposition: transition(expire('swept', 'discard', dueAt)) })
      expect(await claimed(late)).toMatchObject({ kind: 'first', outcome: 'no_longer_held' })
      expect(await world.entries('carrier', 'expire:swept')).toHaveLength(1)
      expect(await world.sweep()).toMatchObject({ applied: 0 })
    })

    it('runs a custom transition and writes its actions; one that throws leaves nothing', async () => {
      let fails = true
      const custom: PlannedTransition = {
        transition: {
          kind: 'custom',
          name: 'custom',
          apply: async () => {
            if (fails) throw new Error('broken')
            return { outcome: 'applied', actions: [notify('custom')] }
          },
        },
        subject: 'x',
        guardMs: null,
        notDue: 'discard',
        payload: null,
      }
      const delivery = () => arrive({ deliveryId: 'custom', disposition: transition(custom) })
      expect(await claim(delivery())).toMatchObject({ kind: 'unavailable' })
      expect(await world.claims('queue', 'custom')).toBe(0)
      fails = false
      expect(await claim(delivery())).toMatchObject({
        kind: 'committed',
        destinations: ['crm'],
        results: [{ kind: 'first', outcome: 'applied' }],
      })
      expect(await world.entries('crm', 'custom')).toHaveLength(1)
    })

    it('keeps acks and traces, each once', async () => {
      const { deliveryUuid } = await claimed(arrive({ deliveryId: 'acked' }))
      const ack = {
        deliveryUuid,
        observationId: newId(),
        status: 204,
        result: 'written',
        answeredAt: Date.now(),
      } as const
      await world.store.recordAcks([ack])
      await world.store.recordAcks([ack])
      expect(await world.acks(deliveryUuid)).toBe(1)
      const trace = {
        id: newId(),
        source: 'queue',
        deliveryId: 'unclaimed',
        identityDigest: Buffer.alloc(32),
        seenAt: Date.now(),
        cause: 'deadline',
      }
      await world.store.recordUnclaimed([trace, trace])
      await world.store.recordUnclaimed([trace])
      expect(await world.unclaimed('unclaimed')).toBe(1)
    })

    it('does not start a push whose deadline has passed', async () => {
      const late = { deliveries: [arrive({ deliveryId: 'too-late' })] }
      const result = await world.store.claim(late, { deadlineAt: performance.now() - 1 })
      expect(result).toEqual({ kind: 'not_started', cause: 'deadline' })
      expect(await world.claims('queue', 'too-late')).toBe(0)
    })
  })
}
