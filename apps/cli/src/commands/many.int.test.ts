import { until } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, type CliRun, DEAD_LETTER, HOLD, openCli, REFUSED, TIMED_OUT } from '../cli.int-setup.js'

let cli: Cli
beforeAll(async () => {
  cli = await openCli()
})
afterAll(async () => {
  await cli.end()
})

const REASON = ['--reason', 'outage of 30 November']
const NOBODY = '00000000-0000-7000-8000-000000000000'
const BO = { COUNTERFOIL_OPERATOR_TOKEN: 'operator-token-of-bo-0123456789' }
let number = 0

/** A pushed delivery with one action for the CRM, due; returns the entry's id. */
async function push(): Promise<string> {
  number += 1
  const body = JSON.stringify({ type: 'ticket.updated', ticketId: `t-${number}`, eventId: `e-${number}` })
  expect((await cli.run(['push', '--source', 'tickets', '--id', `d-${number}`], {}, body)).code).toBe(0)
  const { rows } = await cli.database.pool.query<{ id: string }>(
    'SELECT id FROM counterfoil.entry WHERE idempotency_key = $1',
    [`e-${number}/update`],
  )
  return rows[0]?.id ?? ''
}

async function pushDead(count: number): Promise<string[]> {
  const entries: string[] = []
  for (let index = 0; index < count; index += 1) {
    entries.push(await push())
    await cli.attempt('crm', REFUSED, DEAD_LETTER)
  }
  return entries
}

async function plan(): Promise<string> {
  const made = await cli.run(['redrive', '--destination', 'crm', ...REASON, '--json'])
  expect(made.code).toBe(0)
  return JSON.parse(made.stdout).id
}

const run = (id: string, ...options: string[]): Promise<CliRun> =>
  cli.run(['plan', 'run', id, '--canary', '0', '--per-second', '100', ...options])

describe('counterfoil cancel', () => {
  it('stops an entry that waits, once: then 5, and 3 for what is not there', async () => {
    const entry = await push()
    expect(await cli.run(['cancel', entry, ...REASON])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^cancelled: crm will not be asked for it/),
    })
    expect(await cli.run(['cancel', entry, ...REASON])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('it is not pending: Not delivered'),
    })
    expect((await cli.run(['cancel', NOBODY, ...REASON])).code).toBe(3)
    expect((await cli.run(['cancel', ...REASON])).code).toBe(2)
    const shown = await cli.run(['show', entry])
    expect(shown.stdout).toContain('stopped before crm accepted anything (by ana: outage of 30 November)')
    expect(JSON.parse((await cli.run(['cancel', await push(), ...REASON, '--json'])).stdout)).toMatchObject({
      schema_version: 1,
      kind: 'cancelled',
      destination: 'crm',
    })
  })

  it('exits 4 for what is in doubt, with what to do instead', async () => {
    const entry = await push()
    await cli.attempt('crm', TIMED_OUT, {
      kind: 'retry',
      dueInMs: 0,
      because: 'uncertain_with_key',
      spendsBudget: true,
    })
    const { code, stderr } = await cli.run(['cancel', entry, ...REASON])
    expect(code).toBe(4)
    expect(stderr).toContain(`counterfoil settle ${entry}`)
    const settle = ['settle', entry, '--as', 'delivered', '--evidence', 'message m-1', ...REASON]
    expect((await cli.run(settle)).code).toBe(0)
  })
})

describe('counterfoil redrive of what is in doubt', () => {
  it('sends it again while the destination recognises the key, and says until when', async () => {
    const entry = await push()
    await cli.attempt('crm', TIMED_OUT, HOLD)
    const redriven = await cli.run(['redrive', entry, ...REASON])
    expect(redriven).toMatchObject({ code: 0, stderr: expect.stringContaining('crm recognises the key until 20') })
    expect((await cli.run(['show', entry])).stdout).toContain('Unknown')
  })
})

describe('counterfoil plan', () => {
  it('is a dry run first, then done once with an act per entry: 0, then 5', async () => {
    const entries = await pushDead(3)
    const dry = await cli.run([
      'redrive',
      '--destination',
      'crm',
      '--reason-kind',
      'rejected',
      '--since',
      '1h',
      ...REASON,
    ])
    expect(dry.code).toBe(0)
    expect(dry.stdout).toMatch(/^plan [0-9a-f-]{36}: redrive 3 of 3 entries for crm\n/)
    expect(dry.stdout).toContain('not run yet: nothing has changed')
    expect(dry.stdout).toContain('+ 3 dead lettered (rejected)')
    expect(dry.stdout).toContain(entries[0])
    const id = /plan ([0-9a-f-]{36})/.exec(dry.stdout)?.[1] ?? ''
    expect(await run(id)).toMatchObject({
      code: 0,
      stdout: 'done\ndone 3 of 3 · succeeded 0 · failed 0 · under way 3 · skipped 0\n',
    })
    expect(await run(id)).toMatchObject({ code: 5, stderr: expect.stringContaining('nothing is left of it to do') })
    const shown = JSON.parse((await cli.run(['plan', 'show', id, '--json'])).stdout)
    expect(shown).toMatchObject({ schema_version: 1, status: 'done', progress: { done: 3, under_way: 3 } })
    expect(shown.items.map((item: { result: string }) => item.result)).toEqual(['done', 'done', 'done'])
    expect((await cli.run(['show', entries[0] ?? ''])).stdout).toContain(`plan ${id}`)
  })

  it('exits 6 when the canary is late, and 130 when it is interrupted', async () => {
    await pushDead(3)
    const id = await plan()
    const late = await cli.run(['plan', 'run', id, '--canary', '1', '--canary-within', '10ms'])
    expect(late).toMatchObject({ code: 6, stdout: expect.stringContaining('had not succeeded in time') })
    const interrupted = await cli.run(['plan', 'run', id], {}, '', AbortSignal.abort())
    expect(interrupted).toMatchObject({ code: 130, stdout: expect.stringContaining('run it again to go on') })
    expect((await run(id, '--json')).stdout).toMatch(/^\{"schema_version":1,.*"ended":"done"/)
  })

  it('exits 5 while somebody else runs it, and 6 when it was stopped', async () => {
    await pushDead(4)
    const id = await plan()
    expect((await cli.run(['plan', 'stop', id, ...REASON])).code).toBe(5)
    const first = cli.run(['plan', 'run', id, '--canary', '0', '--per-second', '1'])
    await until(async () => (await cli.run(['plan', 'show', id])).stdout.includes('done 1 of 4'))
    expect(await run(id)).toMatchObject({ code: 5, stderr: expect.stringContaining('somebody is running it already') })
    expect(await cli.run(['plan', 'stop', id, ...REASON], BO)).toMatchObject({ code: 0 })
    expect(await first).toMatchObject({ code: 6, stdout: expect.stringContaining('stopped by a person') })
    expect((await run(id)).code).toBe(0)
  })

  it('exits 3 for no plan and for nothing to plan, 2 for wrong usage, and 4 without a token', async () => {
    expect((await cli.run(['plan', 'show', NOBODY])).code).toBe(3)
    expect((await cli.run(['plan', 'run', NOBODY])).code).toBe(3)
    expect((await cli.run(['plan', 'stop', NOBODY, ...REASON])).code).toBe(3)
    const nothing = await cli.run(['redrive', '--destination', 'crm', '--reason-kind', 'unsendable', ...REASON])
    expect(nothing).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no entry of crm is in a state to redrive'),
    })
    expect((await cli.run(['redrive', NOBODY, '--destination', 'crm', ...REASON])).code).toBe(2)
    expect((await cli.run(['redrive', NOBODY, '--since', '1h', ...REASON])).code).toBe(2)
    expect((await cli.run(['plan', 'run', NOBODY, '--per-second', '0'])).code).toBe(2)
    await pushDead(1)
    const id = await plan()
    expect((await cli.run(['plan', 'run', id], { COUNTERFOIL_OPERATOR_TOKEN: undefined })).code).toBe(4)
    expect((await cli.run(['plan', 'show', id], { COUNTERFOIL_OPERATOR_TOKEN: undefined })).code).toBe(0)
    await run(id)
  })

  it('settles and cancels many as well', async () => {
    const held = await push()
    await cli.attempt('crm', TIMED_OUT, HOLD)
    const made = await cli.run([
      ...['settle', '--destination', 'crm', '--as', 'not-delivered', '--evidence', 'list l-9'],
      ...[...REASON, '--json'],
    ])
    expect((await run(JSON.parse(made.stdout).id)).code).toBe(0)
    expect((await cli.run(['show', held])).stdout).toContain('list l-9')
    const waiting = await push()
    const cancelled = await cli.run(['cancel', '--destination', 'crm', ...REASON, '--json'])
    expect((await run(JSON.parse(cancelled.stdout).id)).code).toBe(0)
    expect((await cli.run(['show', waiting])).stdout).toContain('ana cancelled it')
  })
})

describe('counterfoil send-again', () => {
  it('takes a second person: 0 for both, and the verdict says that there are two business actions', async () => {
    const [entry = ''] = await pushDead(1)
    expect((await cli.run(['send-again', entry, '--approved-by', 'bo', ...REASON])).code).toBe(4)
    const stopped = await push()
    await cli.run(['cancel', stopped, ...REASON])
    const asked = await cli.run(['send-again', stopped, '--approved-by', 'bo', ...REASON])
    expect(asked).toMatchObject({ code: 0, stderr: expect.stringContaining('WILL be asked to act a second time') })
    const request = /request ([0-9a-f-]{36})/.exec(asked.stdout)?.[1] ?? ''
    expect((await cli.run(['send-again', stopped, '--approved-by', 'bo', ...REASON])).code).toBe(5)
    expect((await cli.run(['approve', request, ...REASON])).code).toBe(4)
    const approved = await cli.run(['approve', request, ...REASON, '--json'], BO)
    expect(approved.code).toBe(0)
    expect(JSON.parse(approved.stdout)).toMatchObject({ kind: 'approved', new_key: `e-${number}/update:again:1` })
    expect((await cli.run(['approve', request, ...REASON], BO)).code).toBe(5)
    const shown = await cli.run(['show', `d-${number}`])
    expect(shown.stdout).toContain('There are 2 business actions')
    expect(shown.stdout).toContain('bo answered the request to send it again as new: approved')
  })

  it('exits 4 for whoever may not approve, 3 for what is not there, and lets the asker take it back', async () => {
    const entry = await push()
    await cli.run(['cancel', entry, ...REASON])
    for (const approver of ['ana', 'nobody']) {
      expect((await cli.run(['send-again', entry, '--approved-by', approver, ...REASON])).code).toBe(4)
    }
    const byBo = await cli.run(['send-again', entry, '--approved-by', 'ana', ...REASON], BO)
    expect(byBo).toMatchObject({ code: 4, stderr: expect.stringContaining('ana has no right to approve') })
    expect((await cli.run(['send-again', NOBODY, '--approved-by', 'bo', ...REASON])).code).toBe(3)
    expect((await cli.run(['approve', NOBODY, ...REASON], BO)).code).toBe(3)
    expect((await cli.run(['send-again', entry, ...REASON])).code).toBe(2)
    const asked = await cli.run(['send-again', entry, '--approved-by', 'bo', ...REASON, '--json'])
    const { request } = JSON.parse(asked.stdout)
    expect(await cli.run(['approve', request, '--decline', ...REASON])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^declined: nothing is sent/),
    })
  })
})
