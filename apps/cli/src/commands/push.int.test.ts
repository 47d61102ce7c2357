import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, openCli } from '../cli.int-setup.js'

let cli: Cli
beforeAll(async () => {
  cli = await openCli()
})
afterAll(() => cli.end())

const BODY = '{"type":"ticket.updated","ticketId":"ticket-1","eventId":"e-1"}'

async function counters(query: string) {
  const { matches } = JSON.parse((await cli.run(['show', query, '--json'])).stdout)
  return matches[0]?.counters
}

describe('counterfoil push', () => {
  it('signs and pushes like a queue: 50 copies at once are one claim (I2)', async () => {
    const args = ['push', '--source', 'tickets', '--id', 'd-1', '--repeat', '50', '--concurrency', '50', '--json']
    const { code, stdout } = await cli.run(args, {}, BODY)
    expect(code).toBe(0)
    const document = JSON.parse(stdout)
    expect(document).toMatchObject({ schema_version: 1, source: 'tickets', key_id: 'demo-1', delivery_id: 'd-1' })
    expect(document.copies).toHaveLength(50)
    expect(document.copies.every((copy: { result: string }) => copy.result === 'acked')).toBe(true)
    expect(await counters('d-1')).toMatchObject({ pushes: 50, repeats: 49 })
  })

  it('takes the id from the body where the source does, and writes another one in', async () => {
    expect((await cli.run(['push', '--source', 'jobs'], {}, BODY)).stdout).toContain('delivery e-1: 1 acknowledged')
    expect((await cli.run(['push', '--source', 'jobs', '--id', 'e-2'], {}, BODY)).stdout).toContain('delivery e-2')
    expect(await counters('e-2')).toMatchObject({ pushes: 1 })
  })

  it('delivers again when its first answer was lost', async () => {
    const args = ['push', '--source', 'tickets', '--id', 'd-2', '--drop-response', '--first-retry', '10ms']
    const { code, stderr } = await cli.run(args, {}, BODY)
    expect(code).toBe(0)
    expect(stderr).toMatch(/push 1: answer dropped on purpose.*again in/)
    expect(stderr).toMatch(/push 2: answered 204/)
    expect(await counters('d-2')).toMatchObject({ pushes: 2, repeats: 1 })
  })

  it.each([
    ['one changed byte', ['--tamper']],
    ['a stale time', ['--stale', '3600']],
  ])('is refused for %s: exit code 1, and no claim', async (_, extra) => {
    const { code, stderr } = await cli.run(['push', '--source', 'tickets', '--id', 'd-3', ...extra], {}, BODY)
    expect(code).toBe(1)
    expect(stderr).toContain('answered 401')
    expect((await cli.run(['show', 'd-3'])).code).toBe(3)
  })

  it('gives up at its maximum age with exit code 8', async () => {
    const args = [
      'push',
      '--source',
      'tickets',
      '--url',
      'http://127.0.0.1:1/',
      '--first-retry',
      '10ms',
      '--max-age',
      '100ms',
    ]
    const { code, stdout, stderr } = await cli.run(args, {}, BODY)
    expect(code).toBe(8)
    expect(stdout).toContain('1 given up as too old')
    expect(stderr).toContain('no answer (ECONNREFUSED)')
  })

  it.each([
    ['an unknown source', ['--source', 'nobody'], 'the configured ones: tickets, jobs'],
    ['a missing file', ['--source', 'tickets', '--file', '/nonexistent'], "can't be read: ENOENT"],
    ['an unknown key', ['--source', 'tickets', '--key', 'none'], 'no such active key'],
    ['a URL that is none', ['--source', 'tickets', '--url', 'ftp://x'], 'not an http or https URL'],
    ['--stale where no time is signed', ['--source', 'jobs', '--stale', '5'], 'binds no time'],
    ['a header that is none', ['--source', 'tickets', '--header', 'a\nb: c'], 'Name: value'],
  ])('refuses %s with exit code 2 and a sentence', async (_, args, text) => {
    const { code, stderr } = await cli.run(['push', ...args], {}, BODY)
    expect(code).toBe(2)
    expect(stderr).toContain(text)
  })
})

describe('counterfoil sign', () => {
  it('prints a request that a receiver takes as it stands, and that verify accepts', async () => {
    const signed = await cli.run(
      ['sign', '--source', 'tickets', '--id', 'd-9', '--header', 'connection: close'],
      {},
      BODY,
    )
    expect(signed.code).toBe(0)
    const socket = connect(cli.port, '127.0.0.1')
    socket.write(signed.stdout)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 204 /)
    expect(await counters('d-9')).toMatchObject({ pushes: 1 })
    expect(await cli.run(['verify', '--source', 'tickets'], {}, signed.stdout)).toMatchObject({ code: 0 })
  })

  it('with a real key is on record before it is printed, with reason and operator (I9)', async () => {
    const args = [
      'sign',
      '--source',
      'tickets',
      '--key',
      'live-1',
      '--id',
      'd-10',
      '--force',
      '--reason',
      'asked by Bo',
    ]
    const forced = await cli.run(args, {}, BODY)
    expect(forced).toMatchObject({ code: 0, stderr: expect.stringContaining('signed request on record') })
    const { rows } = await cli.database.pool.query(
      "SELECT actor, reason, detail->>'key_id' AS key FROM counterfoil.act WHERE detail->>'delivery_id' = 'd-10'",
    )
    expect(rows).toEqual([{ actor: 'ana', reason: 'asked by Bo', key: 'live-1' }])
    const nobody = await cli.run(args, { COUNTERFOIL_OPERATOR_TOKEN: undefined }, BODY)
    expect(nobody).toMatchObject({ code: 4, stdout: '' })
  })
})
