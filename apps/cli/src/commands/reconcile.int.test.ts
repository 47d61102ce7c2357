import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ACCEPTED, type Cli, FINISH, HOLD, openCli, TIMED_OUT } from '../cli.int-setup.js'

let cli: Cli
let server: Server
/** What the mailer knows: a message by its key, or nothing; a status instead where it can't say. */
let mailer: { status: number; messages: string[] }
const asked: string[] = []

beforeAll(async () => {
  cli = await openCli()
  server = createServer((request, response) => {
    const key = new URL(request.url ?? '/', 'http://peer').searchParams.get('key') ?? ''
    asked.push(key)
    const messages = mailer.messages.filter((one) => one === key)
    response.writeHead(mailer.status, { 'content-type': 'application/json' }).end(JSON.stringify({ messages }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const lookup = `timeouts: { total: '50ms' }, lookup: { url: '/messages?key={key}', grace: 0, rules: [
    { status: 200, pointer: '/messages', empty: false, finding: 'took_effect' },
    { status: 200, pointer: '/messages', empty: true, finding: 'did_not' } ] },`
  const config = await readFile(cli.configPath, 'utf8')
  await writeFile(
    cli.configPath,
    config.replace("mailer: { url: 'http://127.0.0.1:9/mailer',", `mailer: { url: '${origin}/mails', ${lookup}`),
  )
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await cli.end()
})
beforeEach(() => {
  mailer = { status: 200, messages: [] }
  asked.length = 0
})

let number = 0

/** A pushed delivery whose mail is in doubt, and whose update was delivered; returns the mail's entry and its key. */
async function makeDoubt(): Promise<{ entry: string; key: string; ticket: string }> {
  number += 1
  const ticket = `t-${number}`
  const body = JSON.stringify({ type: 'ticket.solved', ticketId: ticket, eventId: `e-${number}` })
  expect((await cli.run(['push', '--source', 'tickets', '--id', `d-${number}`], {}, body)).code).toBe(0)
  await cli.attempt('crm', ACCEPTED, FINISH)
  await cli.attempt('mailer', TIMED_OUT, HOLD, false)
  const key = `e-${number}/mail`
  const { rows } = await cli.database.pool.query<{ id: string }>(
    'SELECT id FROM counterfoil.entry WHERE idempotency_key = $1',
    [key],
  )
  return { entry: rows[0]?.id ?? '', key, ticket }
}

async function makeOverdue(entry: string): Promise<void> {
  await cli.database.pool.query(
    `UPDATE counterfoil.reconciliation SET review_by = clock_timestamp() - interval '1 minute' WHERE entry = $1`,
    [entry],
  )
}

/** As if it had been held an hour ago: nothing that was sent can still be on its way. */
async function letItRest(entry: string): Promise<void> {
  await cli.database.pool.query(
    `UPDATE counterfoil.entry SET closed_at = closed_at - interval '1 hour' WHERE id = $1`,
    [entry],
  )
  await cli.database.pool.query(
    `UPDATE counterfoil.reconciliation r SET held_at = e.closed_at FROM counterfoil.entry e WHERE e.id = r.entry AND e.id = $1`,
    [entry],
  )
}

const REASON = ['--reason', 'customer asked, INC-77']

describe('counterfoil reconcile', () => {
  it('I6, I9: asks in the name of the operator, and what the destination says ends the doubt', async () => {
    const { entry, key, ticket } = await makeDoubt()
    mailer.messages = [key]
    const run = await cli.run(['reconcile', entry, ...REASON])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toBe(`${entry}  mailer  it acted: delivered (200)\n`)
    expect(asked).toEqual([key])
    const { stdout } = await cli.run(['show', ticket])
    expect(stdout).toContain('✔ Delivered once (found by asking)')
    expect(stdout).toContain('Question 1 to mailer: it acted; taken for delivered')
    expect(stdout).toContain('ana had the destination asked')
    expect(stdout).toContain('in the name of ana')
    const { rows } = await cli.database.pool.query(
      `SELECT a.actor, a.reason, a.acted_at <= l.asked_at AS first FROM counterfoil.act a
       JOIN counterfoil.lookup l ON l.act = a.id WHERE a.entry = $1`,
      [entry],
    )
    expect(rows).toEqual([{ actor: 'ana', reason: 'customer asked, INC-77', first: true }])
  })

  it('returns to pending what did not act, once nothing can be on its way any more', async () => {
    const { entry } = await makeDoubt()
    await letItRest(entry)
    const run = await cli.run(['reconcile', entry, ...REASON, '--json'])
    expect(run.code).toBe(0)
    expect(JSON.parse(run.stdout)).toMatchObject({
      schema_version: 1,
      asked: [{ entry, destination: 'mailer', result: { kind: 'reconciled', question: 1, effect: 'returned' } }],
      remain: 0,
    })
    await cli.attempt('mailer', ACCEPTED, FINISH, false)
  })

  it('exits 6 while it is unknown, 5 when nothing is in doubt any more, 3 for what there is not', async () => {
    const { entry, ticket } = await makeDoubt()
    mailer.status = 500
    const run = await cli.run(['reconcile', entry, ...REASON])
    expect(run).toMatchObject({ code: 6, stdout: expect.stringContaining('still unknown: asked again later (500') })
    expect((await cli.run(['show', ticket])).stdout).toContain('Question 1 to mailer: still unknown (no rule applies')
    const settled = ['settle', entry, '--as', 'delivered', '--evidence', 'message m-17', ...REASON]
    expect((await cli.run(settled)).code).toBe(0)
    expect(await cli.run(['reconcile', entry, ...REASON])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('it is not held as uncertain'),
    })
    const nobody = '01930000-0000-7000-8000-000000000000'
    expect((await cli.run(['reconcile', nobody, ...REASON])).code).toBe(3)
  })

  it('asks about all overdue doubts, and find --overdue lists them', async () => {
    const [one, other] = [await makeDoubt(), await makeDoubt()]
    expect(await cli.run(['find', '--overdue'])).toMatchObject({ code: 0, stdout: '', stderr: 'no doubt is overdue\n' })
    await makeOverdue(one.entry)
    const found = await cli.run(['find', '--overdue'])
    expect(found.stdout).toContain(one.ticket)
    expect(found.stdout).not.toContain(other.ticket)
    expect((await cli.run(['show', one.ticket])).stdout).toContain('It is overdue since')
    mailer.messages = [one.key, other.key]
    expect((await cli.run(['reconcile', '--overdue', ...REASON])).code).toBe(0)
    expect(asked).toEqual([one.key])
    expect((await cli.run(['reconcile', '--destination', 'mailer', ...REASON])).code).toBe(0)
    expect(asked).toEqual([one.key, other.key])
  })

  it('refuses without an identity, and asks nothing then', async () => {
    const { entry } = await makeDoubt()
    const run = await cli.run(['reconcile', entry, ...REASON], { COUNTERFOIL_OPERATOR_TOKEN: undefined })
    expect(run.code).toBe(4)
    expect(asked).toEqual([])
    expect((await cli.run(['reconcile', ...REASON])).code).toBe(2)
    expect((await cli.run(['reconcile', entry, '--overdue', ...REASON])).code).toBe(2)
    expect((await cli.run(['find', '--overdue', '--since', '1d'])).code).toBe(2)
  })
})

describe('counterfoil reconcile-source', () => {
  const compare = (list: string, ...options: string[]) =>
    cli.run(['reconcile-source', '--source', 'tickets', '--list', '-', ...options], {}, list)

  it('tells what was listed and never came, and exits 6', async () => {
    await makeDoubt()
    const here = `d-${number}`
    const run = await compare(`${here}\nlost-1\n`)
    expect(run.code).toBe(6)
    expect(run.stdout).toContain('tickets: 2 listed, 1 claimed here\nmissing here, never queued: 1\n  lost-1\n')
    expect(await compare(`# all of it\n${here}\n`)).toMatchObject({ code: 0 })
  })

  it("reads GitHub's own list, and tells what only the sender takes for failed", async () => {
    await makeDoubt()
    const here = `d-${number}`
    const at = new Date().toISOString()
    const page = (guid: string, code: number) => ({ id: 1, guid, delivered_at: at, status_code: code })
    const list = JSON.stringify([[page(here, 502)], [page('lost-2', 504), page('lost-2', 504)]])
    const run = await compare(list, '--format', 'github', '--json')
    expect(run.code).toBe(6)
    expect(JSON.parse(run.stdout)).toMatchObject({
      schema_version: 1,
      listed: 2,
      agreed: 0,
      missing: { count: 1, items: [{ id: 'lost-2', at, believed: 'failed' }] },
      failed_there: { count: 1, items: [{ id: here }] },
      not_listed: { count: 0 },
    })
    const lines = list.slice(2, -2).replace('],[', ',').replaceAll('},{', '}\n{')
    expect((await compare(lines, '--format', 'github')).code).toBe(6)
  })

  it('tells what is here and was never listed, in the time that the list covers', async () => {
    await makeDoubt()
    const run = await compare('', '--since', '1h', '--until', '2099-01-01')
    expect(run.code).toBe(0)
    expect(run.stdout).toContain(`claimed here, not on the list: ${number}`)
    expect(run.stdout).toContain(`  d-${number}  claimed `)
  })

  it('ends at the first thing that it can not read, and says where', async () => {
    const run = await compare('{"id":"a"}\n{"id":', '--format', 'jsonl')
    expect(run).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('-, line 2: this is no delivery'),
    })
    const missing = ['reconcile-source', '--source', 'tickets', '--list', 'no/such/file']
    expect(await cli.run(missing)).toMatchObject({ code: 2, stderr: expect.stringContaining('ENOENT') })
  })
})
