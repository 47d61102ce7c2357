import { createHash } from 'node:crypto'
import type { LeasedEntry, Sent } from '@counterfoil/core'
import type { AttemptClose, CloseResult } from '@counterfoil/db'
import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { deliverOne } from './deliver-one.js'
import { noFaults } from './fault-points.js'
import { makeContract, makeEntry } from './testing/make-entry.js'

const HOUR_MS = 3_600_000
const lines: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
const answered = (status: number): Sent => ({
  kind: 'answered',
  status,
  headers: {},
  body: Buffer.from('secret answer'),
  bodyTruncated: false,
  durationMs: 12,
})
const failed = (headersHandedOver: boolean): Sent => ({
  kind: 'failed',
  code: 'ECONNRESET',
  message: 'read ECONNRESET',
  headersHandedOver,
  step: 'headers',
  durationMs: 34,
})

beforeEach(() => {
  lines.length = 0
})

async function deliver(
  leased: LeasedEntry,
  sent: Sent,
  over: { contract?: ReturnType<typeof makeContract>; closed?: CloseResult } = {},
) {
  const sends: { sendBefore: number }[] = []
  const closes: AttemptClose[] = []
  const delivered = await deliverOne(leased, {
    worker: 'w1',
    contract: over.contract ?? makeContract(),
    send: async (_leased, sendBefore) => {
      sends.push({ sendBefore })
      return sent
    },
    close: async (close) => {
      closes.push(close)
      return over.closed ?? { kind: 'recorded', hasLateOutcome: false }
    },
    now: () => performance.now(),
    random: () => 0.5,
    fault: noFaults,
    log,
  })
  return { delivered, sends, close: closes[0] }
}

/** An entry whose earlier attempt is in doubt and was first sent this long ago. */
function makeDoubtful(firstSentAgoMs: number): LeasedEntry {
  const at = Date.now()
  const history = {
    attempts: 1,
    tries: 1,
    firstSentAt: at - firstSentAgoMs,
    uncertainSince: at - firstSentAgoMs,
    createdAt: at - firstSentAgoMs,
  }
  return makeEntry({ history, lease: { attempt: 2 } })
}

describe('one attempt', () => {
  test('ends as its answer says, with the key and the digest of the bytes that went out', async () => {
    const leased = makeEntry()
    const { close, delivered } = await deliver(leased, answered(200))
    expect(delivered).toMatchObject({ outcome: { kind: 'accepted' }, decision: { kind: 'finish' } })
    expect(close).toMatchObject({ worker: 'w1', keySent: leased.idempotencyKey, durationMs: 12, detail: null })
    expect(close?.digestSent).toEqual(createHash('sha256').update(leased.body).digest())
  })

  test('that did not leave has neither key nor digest', async () => {
    const { close, delivered } = await deliver(makeEntry(), failed(false))
    expect(delivered).toMatchObject({ outcome: { kind: 'not_sent' }, decision: { kind: 'retry' } })
    expect(close).toMatchObject({ keySent: null, digestSent: null, detail: 'ECONNRESET: read ECONNRESET' })
  })

  test('that may have left, at a destination without keys, is held for a person: never sent again by itself (I6) (case B075: time-out taken for a failure)', async () => {
    const { close, delivered } = await deliver(makeEntry(), failed(true), {
      contract: makeContract({ idempotency: { kind: 'none' } }),
    })
    expect(delivered).toMatchObject({ outcome: { kind: 'uncertain' }, decision: { kind: 'hold', because: 'no_key' } })
    expect(close?.keySent).toBeNull()
    expect(close?.digestSent).not.toBeNull()
  })

  test('whose key window closed while it waited is not sent', async () => {
    const { sends, delivered } = await deliver(makeDoubtful(24 * HOUR_MS), answered(200))
    expect(sends).toHaveLength(0)
    expect(delivered).toMatchObject({
      outcome: { kind: 'not_sent', cause: 'held_back' },
      decision: { kind: 'hold', because: 'key_window_closed' },
    })
  })

  test('whose key window closes before its lease does may only leave before that', async () => {
    const contract = makeContract()
    // The window closes 600 s before the lifetime ends: one second from now.
    const leased = makeDoubtful(24 * HOUR_MS - 601_000)
    const { sends } = await deliver(leased, answered(200), { contract })
    const leftMs = (sends[0]?.sendBefore ?? 0) - leased.lease.askedAt
    expect(leftMs).toBeGreaterThan(900)
    expect(leftMs).toBeLessThan(1_100)
  })

  test('without doubt may leave as long as its lease allows', async () => {
    const leased = makeEntry()
    const { sends } = await deliver(leased, answered(200))
    expect(sends[0]?.sendBefore).toBe(leased.lease.sendBefore)
  })
})

describe('its line in the log', () => {
  test('says who, what came of it and what happens next, and says it once', async () => {
    const leased = makeEntry()
    await deliver(leased, answered(503))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'delivery.attempted',
      destination: 'crm',
      entry: leased.id,
      delivery: leased.deliveryUuid,
      idempotencyKey: leased.idempotencyKey,
      attempt: 1,
      outcome: 'deferred',
      status: 503,
      decision: 'pause',
      because: 'throttled',
      durationMs: 12,
      closed: 'recorded',
    })
  })

  test('I10: holds no payload, no answer, no configured header', async () => {
    const contract = makeContract({ headers: { authorization: 'Bearer s3cret' } })
    await deliver(makeEntry({ body: Buffer.from('{"name":"Ada Lovelace"}') }), answered(400), { contract })
    expect(lines.join()).not.toMatch(/Ada|s3cret|secret answer/)
  })

  test('tells when the lease was lost', async () => {
    await deliver(makeEntry(), answered(200), { closed: { kind: 'lease_lost' } })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ closed: 'lease_lost' })
  })
})
