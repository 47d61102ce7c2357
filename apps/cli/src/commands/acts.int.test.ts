import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, DEAD_LETTER, HOLD, openCli, REFUSED, TIMED_OUT } from '../cli.int-setup.js'

let cli: Cli
let viewerUrl: string
const login = `test_${randomBytes(6).toString('hex')}`

beforeAll(async () => {
  cli = await openCli()
  await cli.database.pool.query(`CREATE ROLE ${login} LOGIN PASSWORD 'secret' IN ROLE counterfoil_viewer`)
  const url = new URL(cli.url)
  url.username = login
  url.password = 'secret'
  viewerUrl = url.href
})
afterAll(async () => {
  await cli.database.pool.query(`DROP ROLE ${login}`)
  await cli.end()
})

let number = 0

/** A pushed delivery whose one action ended as it is told; returns the entry's id. */
async function makeEntry(destination: 'crm' | 'mailer'): Promise<string> {
  number += 1
  const type = destination === 'crm' ? 'ticket.updated' : 'ticket.solved'
  const body = JSON.stringify({ type, ticketId: `t-${number}`, eventId: `e-${number}` })
  expect((await cli.run(['push', '--source', 'tickets', '--id', `d-${number}`], {}, body)).code).toBe(0)
  if (destination === 'crm') await cli.attempt('crm', REFUSED, DEAD_LETTER)
  else await cli.attempt('mailer', TIMED_OUT, HOLD, false)
  const { rows } = await cli.database.pool.query<{ id: string }>(
    'SELECT id FROM counterfoil.entry WHERE idempotency_key LIKE $1 AND destination = $2',
    [`e-${number}/%`, destination],
  )
  return rows[0]?.id ?? ''
}

const REASON = ['--reason', 'customer asked, INC-77']
const EVIDENCE = ['--evidence', 'message m-17', ...REASON]

async function countActs(): Promise<number> {
  const { rows } = await cli.database.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM counterfoil.act')
  return rows[0]?.n ?? -1
}

describe('an act', () => {
  it('is refused with exit code 4 without a token, with a wrong one, and with a name for one; nothing is recorded', async () => {
    const entry = await makeEntry('crm')
    const before = await countActs()
    for (const token of [undefined, 'wrong-token', 'ana']) {
      const { code, stdout, stderr } = await cli.run(['redrive', entry, ...REASON], {
        COUNTERFOIL_OPERATOR_TOKEN: token,
        USER: 'ana',
      })
      expect(code).toBe(4)
      expect(stdout).toBe('')
      expect(stderr).toContain('next: set COUNTERFOIL_OPERATOR_TOKEN')
      expect(stderr).not.toContain('wrong-token')
    }
    expect(await countActs()).toBe(before)
  })

  it('needs a reason, and an id in full', async () => {
    const entry = await makeEntry('crm')
    expect((await cli.run(['redrive', entry])).code).toBe(2)
    expect((await cli.run(['redrive', entry, '--reason', 'x'])).code).toBe(2)
    expect((await cli.run(['redrive', entry.slice(0, 8), ...REASON])).code).toBe(2)
  })

  it("is refused with exit code 4 for a viewer's database login, whoever's token is set", async () => {
    const entry = await makeEntry('crm')
    const { code, stderr } = await cli.run(['redrive', entry, ...REASON], { COUNTERFOIL_DATABASE_URL: viewerUrl })
    expect(code).toBe(4)
    expect(stderr).toContain('this database login may not act: it is not a member of counterfoil_operator')
    expect((await cli.run(['show', entry], { COUNTERFOIL_DATABASE_URL: viewerUrl })).code).toBe(0)
    const change = { COUNTERFOIL_DATABASE_URL: viewerUrl, COUNTERFOIL_OPERATOR_DATABASE_URL: cli.url }
    expect((await cli.run(['redrive', entry, ...REASON], change)).code).toBe(0)
  })
})

describe('counterfoil redrive', () => {
  it('redrives once; the second time it says what stands in its way, with exit code 5', async () => {
    const entry = await makeEntry('crm')
    const first = await cli.run(['redrive', entry, ...REASON])
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^returned to pending: attempt 2 to crm/) })
    const second = await cli.run(['redrive', entry, ...REASON])
    expect(second).toMatchObject({ code: 5, stdout: '' })
    expect(second.stderr).toContain('nothing was changed (pending)')
    const shown = await cli.run(['show', entry])
    expect(shown.stdout).toContain('ana returned it to pending')
    expect(shown.stdout).toContain('reason: customer asked, INC-77')
    expect(shown.stdout).toContain('Not delivered yet')
  })

  it('exits 5 for what is unknown and says how to find out, and 3 for what is not there', async () => {
    const entry = await makeEntry('mailer')
    const { code, stderr } = await cli.run(['redrive', entry, ...REASON])
    expect(code).toBe(5)
    expect(stderr).toContain(`counterfoil settle ${entry}`)
    expect((await cli.run(['redrive', '00000000-0000-7000-8000-000000000000', ...REASON])).code).toBe(3)
  })

  it('prints one JSON document', async () => {
    const entry = await makeEntry('crm')
    const { stdout } = await cli.run(['redrive', entry, ...REASON, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      schema_version: 1,
      entry,
      kind: 'redriven',
      destination: 'crm',
      next_attempt: 2,
    })
  })
})

describe('counterfoil settle', () => {
  it('lets one of two people settle, and tells the other with exit code 5', async () => {
    const entry = await makeEntry('mailer')
    const bo = { COUNTERFOIL_OPERATOR_TOKEN: 'operator-token-of-bo-0123456789' }
    const results = await Promise.all([
      cli.run(['settle', entry, '--as', 'delivered', ...EVIDENCE]),
      cli.run(['settle', entry, '--as', 'not-delivered', ...EVIDENCE], bo),
    ])
    expect(results.map(({ code }) => code).sort()).toEqual([0, 5])
    expect(results.find(({ code }) => code === 5)?.stderr).toMatch(/(ana|bo) has already settled it as/)
    const shown = await cli.run(['show', entry])
    expect(shown.stdout).toMatch(/(Delivered once|Not delivered) \(settled by (ana|bo)\)/)
    expect(shown.stdout).toContain('message m-17')
  })

  it('refuses without evidence, with another word for the outcome, and when there is a newer attempt', async () => {
    const entry = await makeEntry('mailer')
    expect((await cli.run(['settle', entry, '--as', 'delivered', ...REASON])).code).toBe(2)
    expect((await cli.run(['settle', entry, '--as', 'sent', ...EVIDENCE])).code).toBe(2)
    expect((await cli.run(['settle', entry, '--as', 'delivered', '--seen-attempt', '0', ...EVIDENCE])).code).toBe(5)
  })
})

describe('counterfoil release', () => {
  it('resumes a paused destination once', async () => {
    await cli.database.pool.query(
      `INSERT INTO counterfoil.destination_state (destination, paused_reason, paused_at)
       VALUES ('crm', 'credentials', now()) ON CONFLICT (destination) DO UPDATE SET paused_reason = 'credentials', paused_at = now()`,
    )
    const first = await cli.run(['release', '--destination', 'crm', ...REASON])
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('crm goes on; it was paused for credentials'),
    })
    expect((await cli.run(['release', '--destination', 'crm', ...REASON])).code).toBe(5)
    expect((await cli.run(['release', '--destination', 'nobody', ...REASON])).code).toBe(3)
  })

  it('gives a quarantined delivery what the corrected route asks for, or discards it, once', async () => {
    await cli.run(['push', '--source', 'tickets', '--id', 'q-1'], {}, '{"type":"ticket.updated"}')
    const found = JSON.parse((await cli.run(['show', 'q-1', '--json'])).stdout)
    expect(found.matches[0].verdict).toMatchObject({ kind: 'quarantined', advice: { name: 'release' } })
    const id = found.matches[0].delivery.id
    // The schema still refuses it, and says so.
    const refused = await cli.run(['release', id, ...REASON])
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain("today's configuration cannot use it either")
    // Its content is what a corrected route would accept.
    await cli.database.pool.query('UPDATE counterfoil.delivery_content SET body = $2 WHERE delivery = $1', [
      id,
      Buffer.from('{"type":"ticket.updated","ticketId":"t-q","eventId":"e-q"}'),
    ])
    const released = await cli.run(['release', id, ...REASON])
    expect(released).toMatchObject({ code: 0, stdout: expect.stringContaining('queued for crm') })
    expect((await cli.run(['release', id, '--discard', ...REASON])).code).toBe(5)
    const shown = await cli.run(['show', 't-q'])
    expect(shown.stdout).toContain('ana released it from quarantine')
    expect(shown.stdout).toContain('Not delivered yet')
  })

  it('discards for good', async () => {
    await cli.run(['push', '--source', 'tickets', '--id', 'q-2'], {}, '{"type":"ticket.updated"}')
    const id = JSON.parse((await cli.run(['show', 'q-2', '--json'])).stdout).matches[0].delivery.id
    expect((await cli.run(['release', id, '--discard', ...REASON])).code).toBe(0)
    expect((await cli.run(['show', 'q-2'])).stdout).toContain('Ignored (discarded)')
    expect((await cli.run(['release', id, ...REASON])).code).not.toBe(0)
  })

  it('takes either a delivery or a destination', async () => {
    expect((await cli.run(['release', ...REASON])).code).toBe(2)
    expect((await cli.run(['release', '--destination', 'crm', '--discard', ...REASON])).code).toBe(2)
  })
})

describe('a forced push', () => {
  const body = '{"type":"ticket.updated","ticketId":"t-f","eventId":"e-f"}'
  // Reserved for documentation: nothing answers there, and nothing needs to.
  const away = ['push', '--source', 'tickets', '--key', 'live-1', '--url', 'http://192.0.2.1:9/push', '--max-age', '0s']

  it('with a real key to another machine is refused, and recorded when an operator forces it (I9)', async () => {
    const refused = await cli.run(away, {}, body)
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toContain('live-1 is not a demo key')
    expect((await cli.run([...away, '--force'], {}, body)).code).toBe(2)
    const noToken = { COUNTERFOIL_OPERATOR_TOKEN: undefined }
    expect((await cli.run([...away, '--force', ...REASON], noToken, body)).code).toBe(4)
    const before = await countActs()
    const forcing = cli.run(
      [...away, '--force', ...REASON],
      { COUNTERFOIL_OPERATOR_TOKEN: 'operator-token-of-bo-0123456789' },
      body,
    )
    const forced = await forcing
    expect(forced.stderr).toContain('forced push on record')
    expect(await countActs()).toBe(before + 1)
    const { rows } = await cli.database.pool.query(`SELECT actor, detail FROM counterfoil.act WHERE action = 'push'`)
    expect(rows).toMatchObject([
      { actor: 'bo', detail: { source: 'tickets', key_id: 'live-1', origin: 'http://192.0.2.1:9' } },
    ])
    expect(JSON.stringify(rows)).not.toContain('ticketId')
  })
})
