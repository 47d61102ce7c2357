import type { SinkBehaviour } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { readAttempts } from '../system/read-attempts.js'

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')

type Rude = {
  readonly name: string
  readonly behaviour: SinkBehaviour
  /** What the first attempt is called, and whether its effect is in doubt. */
  readonly outcome: 'uncertain' | 'deferred' | 'accepted'
}

/** Every way of a destination to be no help, once; afterwards it works. */
const RUDE: readonly Rude[] = [
  { name: 'hang-applied', behaviour: { kind: 'hang', apply: true }, outcome: 'uncertain' },
  { name: 'hang', behaviour: { kind: 'hang', apply: false }, outcome: 'uncertain' },
  { name: 'drop-applied', behaviour: { kind: 'drop', apply: true }, outcome: 'uncertain' },
  { name: 'reset-applied', behaviour: { kind: 'drop', apply: true, reset: true }, outcome: 'uncertain' },
  { name: 'reset-unread', behaviour: { kind: 'reset_before_read' }, outcome: 'uncertain' },
  { name: 'error-applied', behaviour: { kind: 'answer', status: 500, apply: true }, outcome: 'uncertain' },
  { name: 'error', behaviour: { kind: 'answer', status: 502 }, outcome: 'uncertain' },
  { name: 'late-yes', behaviour: { kind: 'answer', status: 200, delayMs: 1_600 }, outcome: 'uncertain' },
  {
    name: 'nonsense',
    behaviour: { kind: 'raw', apply: true, base64: base64('no http at all\r\n\r\n') },
    outcome: 'uncertain',
  },
  {
    name: 'half-headers',
    behaviour: { kind: 'raw', apply: true, base64: base64('HTTP/1.1 200 O') },
    outcome: 'uncertain',
  },
  { name: 'later', behaviour: { kind: 'answer', status: 429, headers: { 'Retry-After': '1' } }, outcome: 'deferred' },
  { name: 'too-busy', behaviour: { kind: 'answer', status: 503 }, outcome: 'deferred' },
  // The status line came whole: the destination has said yes, whatever became of the rest.
  { name: 'half-body', behaviour: { kind: 'truncate', apply: true, status: 200 }, outcome: 'accepted' },
]

describe('destinations that are no help', () => {
  let system: System
  afterEach(() => system.close())

  it('I3 I6: with a key each is asked again under it until it says yes; without, a doubt waits for a person', async () => {
    const once = (key: string, behaviour: SinkBehaviour) => ({ path: '/crm', key, to: 1, behaviour })
    system = await openSystem({ sink: { rules: RUDE.map(({ name, behaviour }) => once(`${name}/notify`, behaviour)) } })
    const [{ pusher }] = await Promise.all([system.startReceiver(), system.startWorker()])
    await Promise.all(RUDE.map(({ name }) => pusher.pushUntilAcked({ id: name })))
    await system.drained(60_000)
    const seen: string[] = []
    const wanted: string[] = []
    for (const { name, outcome } of RUDE) {
      const attempts = await readAttempts(system.pool, `${name}/notify`)
      seen.push(`${name}: ${attempts[0]?.outcome}, then ${attempts.at(-1)?.outcome}, ${attempts[0]?.state}`)
      wanted.push(`${name}: ${outcome}, then accepted, delivered`)
    }
    expect(seen).toEqual(wanted)
    expect(await system.sink.summary()).toMatchObject({ effects: RUDE.length, repeatedEffects: 0 })

    // The same without keys, one after the other since nothing else tells them apart at the sink.
    for (const { name, behaviour, outcome } of RUDE) {
      await system.sink.script({ rules: [{ path: '/mailer', to: 1, behaviour }] })
      await pusher.pushUntilAcked({ id: `mail-${name}`, type: 'mail' })
      await system.drained()
      const attempts = await readAttempts(system.pool, `mail-${name}/mail`)
      if (outcome === 'uncertain') {
        expect(attempts, name).toMatchObject([{ outcome: 'uncertain', state: 'uncertain' }])
      } else {
        expect(attempts[0], name).toMatchObject({ outcome, state: 'delivered' })
      }
    }
    expect(await findViolations(system)).toEqual([])
  })
})
