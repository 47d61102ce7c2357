import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSystem, type Receiver, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { eventBody } from '../system/pusher.js'
import { SECRETS } from '../system/secrets.js'

const ROLE = `viewer_${process.pid}_${Date.now()}`
const OPERATOR = { COUNTERFOIL_OPERATOR_TOKEN: SECRETS.ANA_TOKEN }

/** What a person types, against real processes: every command's answer and exit code. */
describe('the command line, from a push to its settlement', () => {
  let system: System
  let receiver: Receiver
  let viewerUrl: string

  beforeAll(async () => {
    system = await openSystem()
    await system.pool.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'viewer-password' IN ROLE counterfoil_viewer`)
    const url = new URL(system.databaseUrl)
    url.username = ROLE
    url.password = 'viewer-password'
    viewerUrl = url.href
    ;[receiver] = await Promise.all([system.startReceiver(), system.startWorker()])
  })
  afterAll(async () => {
    await system.pool.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`)
    await system.close()
  })

  const push = async (event: Parameters<typeof eventBody>[0], ...args: string[]) => {
    const file = join(system.spoolDir, '..', `${event.id}.json`)
    await writeFile(file, eventBody(event))
    const url = `http://127.0.0.1:${receiver.port}/push/events`
    return system.run(['push', '--source', 'events', '--url', url, '--id', event.id, '--file', file, ...args])
  }
  const entryOf = async (key: string): Promise<string> => {
    const { rows } = await system.pool.query<{ id: string }>(
      'SELECT id FROM counterfoil.entry WHERE idempotency_key = $1',
      [key],
    )
    return rows[0]?.id ?? ''
  }
  const stateOf = async (key: string): Promise<string> => {
    const { rows } = await system.pool.query<{ state: string }>(
      'SELECT state FROM counterfoil.entry WHERE idempotency_key = $1',
      [key],
    )
    return rows[0]?.state ?? ''
  }
  const acts = () => system.count('counterfoil.act')

  it('push, then show and find: delivered once, the repeat absorbed', async () => {
    expect(await push({ id: 'evt-ok' }, '--repeat', '3', '--concurrency', '3')).toMatchObject({ code: 0 })
    await system.drained()
    const since = ['--since', '1h', '--jsonl']
    const [shown, text, viewed, byKey, byEntry, found, none] = await Promise.all([
      system.run(['show', 'evt-ok', '--json']),
      system.run(['show', 'evt-ok']),
      system.run(['show', 'evt-ok'], { COUNTERFOIL_DATABASE_URL: viewerUrl }),
      system.run(['show', 'evt-ok/notify']),
      system.run(['show', await entryOf('evt-ok/notify')]),
      system.run(['find', '--verdict', 'delivered_once', ...since]),
      system.run(['find', '--verdict', 'unknown', ...since]),
    ])
    expect(shown.code).toBe(0)
    expect(shown.stdout).toContain('"delivered_once"')
    expect(text.stdout).toMatch(/delivered once/i)
    // The same by key and by entry, and as somebody who may only look.
    for (const other of [byKey, byEntry]) expect(other.stdout).toMatch(/delivered once/i)
    expect(viewed).toMatchObject({ code: 0, stdout: text.stdout })
    expect(found.code).toBe(0)
    expect(found.stdout).toContain('evt-ok')
    expect(none.stdout).toBe('')
  })

  it('push says by its exit code what became of it', async () => {
    const nobody = `http://127.0.0.1:${await findFreePort()}/push/events`
    const results = await Promise.all([
      push({ id: 'evt-tampered' }, '--tamper'),
      push({ id: 'evt-stale' }, '--stale', '3600'),
      push({ id: 'evt-x' }, '--key', 'no-such-key'),
      push({ id: 'evt-x' }, '--url', 'https://push.example/push/events'),
      push({ id: 'evt-x' }, '--url', nobody, '--max-age', '1s', '--first-retry', '200ms'),
      push({ id: 'evt-dropped' }, '--drop-response', '--first-retry', '100ms'),
    ])
    expect(results.map(({ code }) => code)).toEqual([1, 1, 2, 4, 8, 0])
    expect(await system.count(`counterfoil.delivery WHERE delivery_id IN ('evt-tampered', 'evt-stale', 'evt-x')`)).toBe(
      0,
    )
    const { rows } = await system.pool.query(
      `SELECT count(*)::int AS n FROM counterfoil.observation o JOIN counterfoil.delivery d ON d.id = o.delivery
       WHERE d.delivery_id = 'evt-dropped'`,
    )
    expect(rows).toEqual([{ n: 2 }])
  })

  it('show exits 3 without a record, and everything 2 on wrong usage', async () => {
    const wrong = [['show', 'ticket-of-nobody'], ['show'], ['settle', 'not-an-id', '--as', 'delivered'], ['shwo']]
    const results = await Promise.all(wrong.map((args) => system.run(args)))
    expect(results.map(({ code }) => code)).toEqual([3, 2, 2, 2])
  })

  it('I6 I9: an unknown one is settled by an operator with evidence, once, and by nobody else', async () => {
    await system.sink.script({ rules: [{ path: '/mailer', behaviour: { kind: 'drop', apply: true } }] })
    expect((await push({ id: 'evt-doubt', type: 'mail' })).code).toBe(0)
    await system.drained()
    expect(await stateOf('evt-doubt/mail')).toBe('uncertain')
    expect((await system.run(['show', 'evt-doubt'])).stdout).toMatch(/unknown/i)
    expect((await system.run(['show', 'evt-doubt', '--exit-code'])).code).toBe(6)
    expect((await system.run(['find', '--verdict', 'unknown', '--since', '1h', '--jsonl'])).stdout).toContain(
      'evt-doubt',
    )

    const entry = await entryOf('evt-doubt/mail')
    const settle = [
      'settle',
      entry,
      '--as',
      'delivered',
      '--evidence',
      'mail 4711 in the log',
      '--reason',
      'asked them',
    ]
    const before = await acts()
    const refusals = await Promise.all([
      system.run(settle),
      system.run(settle, { COUNTERFOIL_OPERATOR_TOKEN: 'a-token-that-is-nobodys' }),
      system.run(settle, { ...OPERATOR, COUNTERFOIL_OPERATOR_DATABASE_URL: viewerUrl }),
      system.run(['redrive', entry, '--reason', 'try again'], OPERATOR),
      system.run(settle.slice(0, -2), OPERATOR),
    ])
    // No token, nobody's token, a login that may only look; doubt is never simply sent again; and no act without a reason.
    expect(refusals.map(({ code }) => code)).toEqual([4, 4, 4, 5, 2])
    expect(await acts()).toBe(before)
    expect(await stateOf('evt-doubt/mail')).toBe('uncertain')

    expect(await system.run(settle, OPERATOR)).toMatchObject({ code: 0 })
    const [again, settled] = await Promise.all([system.run(settle, OPERATOR), system.run(['show', 'evt-doubt'])])
    expect(again.code).toBe(5)
    expect(settled.stdout).toMatch(/ana/)
    const { rows } = await system.pool.query('SELECT actor, action, reason FROM counterfoil.act')
    expect(rows).toEqual([{ actor: 'ana', action: 'settle', reason: 'asked them' }])
  })

  it('I3 I9: a dead letter is redriven under the same key, and its attempt numbers go on', async () => {
    await system.sink.script({ rules: [{ path: '/crm', to: 1, behaviour: { kind: 'answer', status: 422 } }] })
    expect((await push({ id: 'evt-dead' })).code).toBe(0)
    await system.drained()
    expect(await stateOf('evt-dead/notify')).toBe('dead_lettered')
    const entry = await entryOf('evt-dead/notify')
    const redrive = ['redrive', entry, '--reason', 'they repaired it']
    const [shown, refused] = await Promise.all([system.run(['show', 'evt-dead']), system.run(redrive)])
    expect(shown.stdout).toMatch(/not delivered/i)
    expect(refused.code).toBe(4)
    expect(await system.run(redrive, OPERATOR)).toMatchObject({ code: 0 })
    await system.drained()
    expect(await stateOf('evt-dead/notify')).toBe('delivered')
    const { rows } = await system.pool.query(
      'SELECT number, outcome, key_sent AS key FROM counterfoil.attempt WHERE entry = $1 ORDER BY number',
      [entry],
    )
    expect(rows).toEqual([
      { number: 1, outcome: 'rejected', key: 'evt-dead/notify' },
      { number: 2, outcome: 'accepted', key: 'evt-dead/notify' },
    ])
    const unknown = '00000000-0000-7000-8000-00000000dead'
    const again = await Promise.all([
      system.run(redrive, OPERATOR),
      system.run(['redrive', unknown, '--reason', 'once more'], OPERATOR),
    ])
    expect(again.map(({ code }) => code)).toEqual([5, 3])
  })

  it('I12: doctor finds everything in its place, and the oracles agree', async () => {
    const away = { COUNTERFOIL_DATABASE_URL: 'postgres://nobody:secret-password@127.0.0.1:1/none' }
    const [doctor, status, lost] = await Promise.all([
      system.run(['doctor']),
      system.run(['migrate', 'status']),
      system.run(['doctor'], away),
    ])
    expect([doctor.code, status.code, lost.code]).toEqual([0, 0, 7])
    expect(await findViolations(system)).toEqual([])
    expect(lost.stdout + lost.stderr).not.toContain('secret-password')
  })
})
