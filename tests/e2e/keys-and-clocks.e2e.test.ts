import { until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isReady, openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { createPusher } from '../system/pusher.js'
import { SECRETS } from '../system/secrets.js'

const TEN_MINUTES = 600_000
const FOUR_MINUTES = 240_000

/** A process whose wall clock is off; its monotonic clock is right, as on a real machine whose date is wrong. */
function withClock(skewMs: number): { readonly NODE_OPTIONS: string } {
  const source = `
    const Real = Date
    class Skewed extends Real {
      constructor(...args) { args.length === 0 ? super(Real.now() + (${skewMs})) : super(...args) }
      static now() { return Real.now() + (${skewMs}) }
    }
    globalThis.Date = Skewed`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(source)}` }
}

describe('keys and clocks', () => {
  let system: System
  beforeEach(async () => {
    system = await openSystem()
  })
  afterEach(() => system.close())

  it('takes pushes under every key whose time it is, and keeps which one it was', async () => {
    const { pusher } = await system.startReceiver()
    const push = (id: string, secret: string) => pusher.push({ id, secret })
    expect(await push('evt-old', SECRETS.EVENTS_SECRET)).toMatchObject({ status: 204 })
    expect(await push('evt-new', SECRETS.EVENTS_SECRET_NEXT)).toMatchObject({ status: 204 })
    // The redelivery of one and the same, signed with the next key: still the same delivery.
    expect(await push('evt-old', SECRETS.EVENTS_SECRET_NEXT)).toMatchObject({ status: 204 })
    expect(await push('evt-over', SECRETS.EVENTS_SECRET_OVER)).toMatchObject({ status: 401 })
    expect(await push('evt-later', SECRETS.EVENTS_SECRET_LATER)).toMatchObject({ status: 401 })
    const { rows } = await system.pool.query(
      `SELECT d.delivery_id AS id, o.key_id AS key, o.kind
       FROM counterfoil.observation o JOIN counterfoil.delivery d ON d.id = o.delivery ORDER BY 1, o.number`,
    )
    expect(rows).toEqual([
      { id: 'evt-new', key: 'k2', kind: 'first' },
      { id: 'evt-old', key: 'k1', kind: 'first' },
      { id: 'evt-old', key: 'k2', kind: 'duplicate' },
    ])
  })

  it('refuses what is stale or of the future by the window, and takes what is inside', async () => {
    const { pusher } = await system.startReceiver()
    const push = (id: string, offsetMs: number) => pusher.push({ id, signedAt: Date.now() + offsetMs })
    expect(await push('evt-1', -4 * 60_000)).toMatchObject({ status: 204 })
    expect(await push('evt-2', 4 * 60_000)).toMatchObject({ status: 204 })
    expect(await push('evt-3', -6 * 60_000)).toMatchObject({ status: 401 })
    expect(await push('evt-4', 6 * 60_000)).toMatchObject({ status: 401 })
    expect(await system.count('counterfoil.delivery')).toBe(2)
  })

  it.each([
    ['ahead', TEN_MINUTES],
    ['behind', -TEN_MINUTES],
  ])(
    'a receiver whose clock is 10 minutes %s goes unready and refuses no honest push as stale',
    async (_what, skewMs) => {
      const app = system.spawn('receiver', withClock(skewMs))
      const { port, healthPort } = await app.waitForLog(({ msg }) => msg === 'receiver.started', 60_000)
      const pusher = createPusher(Number(port))
      expect(await pusher.push({ id: 'evt-1' })).toMatchObject({
        kind: 'answered',
        status: 503,
        retryAfter: expect.stringMatching(/^\d+$/),
      })
      expect(await isReady(Number(healthPort))).toBe(false)
      pusher.close()
    },
  )

  it('I8: within what it tolerates, a wrong clock changes no verdict: times are those of the database', async () => {
    await system.pool.query(
      `CREATE SCHEMA app;
       CREATE TABLE app.hold (id text PRIMARY KEY, status text NOT NULL, due_at timestamptz NOT NULL);
       INSERT INTO app.hold VALUES ('due', 'held', clock_timestamp() - interval '1 second'),
                                   ('early', 'held', clock_timestamp() + interval '15 seconds')`,
    )
    // Five minutes is the most that may be tolerated. To the receiver both are long due, to the worker neither is.
    const tolerant = { COUNTERFOIL_CLOCK_TOLERANCE_MS: '300000' }
    const [receiver] = await Promise.all([
      system.startReceiver({ ...withClock(FOUR_MINUTES), ...tolerant }),
      system.startWorker(withClock(-TEN_MINUTES)),
    ])
    const push = (subject: string) => receiver.pusher.push({ id: `evt-${subject}`, type: 'expire', subject })
    expect(await push('due')).toMatchObject({ status: 204 })
    expect(await push('early')).toMatchObject({ status: 204 })
    const outcomes = async () =>
      (
        await system.pool.query(
          `SELECT t.subject, t.number, t.outcome, t.decided_by AS by,
                  t.outcome <> 'applied' OR t.decided_at >= h.due_at AS "inTime"
           FROM counterfoil.transition_outcome t JOIN app.hold h ON h.id = t.subject ORDER BY 1, 2`,
        )
      ).rows
    expect(await outcomes()).toEqual([
      { subject: 'due', number: 1, outcome: 'applied', by: 'push', inTime: true },
      { subject: 'early', number: 1, outcome: 'not_due', by: 'push', inTime: true },
    ])
    await until(async () => (await outcomes()).length === 3, { timeoutMs: 30_000, what: 'the deferral' })
    expect((await outcomes())[2]).toMatchObject({ subject: 'early', outcome: 'applied', by: 'deferral', inTime: true })
    await system.drained()
    expect(await system.sink.summary()).toMatchObject({ effects: 2, repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: ['evt-due', 'evt-early'] })).toEqual([])
  })
})
