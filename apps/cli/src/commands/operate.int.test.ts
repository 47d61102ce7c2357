import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, openCli } from '../cli.int-setup.js'

let cli: Cli
const made: string[] = []
beforeAll(async () => {
  cli = await openCli()
})
afterAll(async () => {
  for (const name of made) await cli.database.pool.query(`DROP DATABASE IF EXISTS ${name}`)
  await cli.end()
})

/** An empty database beside the test's own. */
async function makeEmptyDatabase(): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await cli.database.pool.query(`CREATE DATABASE ${name}`)
  made.push(name)
  const url = new URL(cli.url)
  url.pathname = `/${name}`
  return url.href
}

async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

describe('counterfoil migrate', () => {
  it('applies what is missing, once, and tells the status by its exit code', async () => {
    const change = { COUNTERFOIL_DATABASE_URL: await makeEmptyDatabase() }
    const before = await cli.run(['migrate', 'status'], change)
    expect(before).toMatchObject({ code: 6, stdout: expect.stringContaining('missing  0001_delivery_path.sql') })
    expect(await cli.run(['migrate', 'up'], change)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('applied 0001_delivery_path.sql'),
    })
    expect(await cli.run(['migrate', 'up'], change)).toMatchObject({
      code: 0,
      stdout: 'nothing to apply: the schema is up to date\n',
    })
    const after = await cli.run(['migrate', 'status', '--json'], change)
    expect(after.code).toBe(0)
    expect(JSON.parse(after.stdout)).toMatchObject({ schema_version: 1, pending: [], unknown: [] })
  })

  it('says that the schema is newer than the program', async () => {
    const url = await makeEmptyDatabase()
    const change = { COUNTERFOIL_DATABASE_URL: url }
    await cli.run(['migrate', 'up'], change)
    await runSql(
      url,
      `INSERT INTO counterfoil.migration (name, batch, migration_time) VALUES ('9999_later.sql', 9, now())`,
    )
    const { code, stdout, stderr } = await cli.run(['migrate', 'status'], change)
    expect(code).toBe(6)
    expect(stdout).toContain('unknown  9999_later.sql')
    expect(stderr).toContain('newer than this program')
    expect(await cli.run(['doctor'], change)).toMatchObject({ code: 7 })
  })
})

describe('counterfoil config', () => {
  it('checks everything at once and prints it redacted', async () => {
    const checked = await cli.run(['config', 'check', '--database'], { COUNTERFOIL_PORT: '' })
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('2 sources, 2 destinations') })
    const printed = await cli.run(['config', 'print'], { COUNTERFOIL_DATABASE_URL: undefined })
    expect(printed.code).toBe(0)
    expect(JSON.parse(printed.stdout)).toHaveProperty('sources.tickets')
    expect(printed.stdout).not.toContain('demo-push-secret')
    expect(printed.stdout).not.toContain('operator-token')
  })

  it('exits 2 for a missing and for a broken one, with a sentence', async () => {
    const missing = await cli.run(['config', 'check', '--config', '/nonexistent.ts'])
    expect(missing).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no configuration at /nonexistent.ts'),
    })
    const broken = join(dirname(cli.configPath), 'broken.config.ts')
    await writeFile(broken, 'export default { sources: ')
    expect((await cli.run(['config', 'check', '--config', broken])).code).toBe(2)
  })

  it('refuses to lose a destination that still has open entries', async () => {
    const body = '{"type":"ticket.updated","ticketId":"t","eventId":"open-1"}'
    await cli.run(['push', '--source', 'tickets'], {}, body)
    const smaller = join(dirname(cli.configPath), 'smaller.config.ts')
    await writeFile(
      smaller,
      `import { defineConfig } from '@counterfoil/config'
       export default defineConfig({ sources: {}, destinations: { mailer: { url: 'http://127.0.0.1:9/', idempotency: 'none', reviewWindow: '4h', allowPrivate: true } } })`,
    )
    const { code, stderr } = await cli.run(['config', 'check', '--database', '--config', smaller])
    expect(code).toBe(2)
    expect(stderr).toContain('destination "crm" still has entries to send')
    expect(stderr).toContain('source "tickets" still has entries to send')
  })

  it('demands what only the owner can say, although every process starts without it', async () => {
    const silent = join(dirname(cli.configPath), 'silent.config.ts')
    const destination = `{ url: 'http://127.0.0.1:9/', idempotency: 'none', allowPrivate: true }`
    await writeFile(
      silent,
      `import { defineConfig } from '@counterfoil/config'
       export default defineConfig({ sources: {}, destinations: { mailer: ${destination} } })`,
    )
    const none = { COUNTERFOIL_DATABASE_URL: undefined }
    const { code, stderr } = await cli.run(['config', 'check', '--config', silent], none)
    expect(code).toBe(2)
    expect(stderr).toContain('destinations.mailer.reviewWindow: is missing')
    expect((await cli.run(['config', 'print', '--config', silent], none)).code).toBe(0)
  })

  it('asks the database wherever one is set, and says so when it could not', async () => {
    const smaller = join(dirname(cli.configPath), 'smaller.config.ts')
    expect((await cli.run(['config', 'check', '--config', smaller])).code).toBe(2)
    const away = { COUNTERFOIL_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' }
    expect(await cli.run(['config', 'check', '--config', smaller], away)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('not checked whether open work is left behind'),
    })
    expect((await cli.run(['config', 'check', '--database', '--config', smaller], away)).code).toBe(7)
    const none = { COUNTERFOIL_DATABASE_URL: undefined }
    expect(await cli.run(['config', 'check', '--config', smaller], none)).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('counterfoil doctor', () => {
  it('finds a healthy system healthy, and names an entry that is in no queue (I12)', async () => {
    expect(await cli.run(['doctor'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(ok .*\n){3}$/) })
    await cli.database.pool.query('DELETE FROM counterfoil.due')
    const { code, stdout } = await cli.run(['doctor'])
    expect(code).toBe(6)
    expect(stdout).toMatch(/entry [0-9a-f-]{36}: nowhere/)
  })
})

describe('what is wrong around a command', () => {
  it.each([
    ['no settings', { COUNTERFOIL_DATABASE_URL: undefined }, 2, 'COUNTERFOIL_DATABASE_URL: is not set'],
    ['an unreachable database', { COUNTERFOIL_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x' }, 7, "can't be reached"],
  ])('%s is one clear sentence and a non-zero exit', async (_, change, expected, text) => {
    for (const args of [['show', 'x'], ['find'], ['migrate', 'status'], ['doctor']]) {
      const { code, stdout, stderr } = await cli.run(args, change)
      expect(code, args[0]).toBe(expected)
      if (args[0] !== 'doctor') expect(`${stdout}${stderr}`, args[0]).toContain(text)
      expect(stderr, args[0]).not.toMatch(/\n\s+at /)
      expect(stderr, args[0]).not.toContain('a:b')
    }
  })

  it('a wrong password, a database that is not there, one without our schema and one that is read-only say so', async () => {
    const url = new URL(cli.url)
    url.pathname = '/not_there'
    expect(await cli.run(['show', 'x'], { COUNTERFOIL_DATABASE_URL: url.href })).toMatchObject({ code: 7 })
    const empty = await makeEmptyDatabase()
    expect(await cli.run(['show', 'x'], { COUNTERFOIL_DATABASE_URL: empty })).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('next: counterfoil migrate up'),
    })
    const login = `test_${randomUUID().replaceAll('-', '')}`
    await cli.database.pool.query(`CREATE ROLE ${login} LOGIN PASSWORD 'secret' IN ROLE counterfoil_operator`)
    await cli.database.pool.query(`ALTER ROLE ${login} SET default_transaction_read_only = on`)
    const readOnly = new URL(cli.url)
    readOnly.username = login
    readOnly.password = 'secret'
    const act = ['redrive', randomUUID(), '--reason', 'because']
    const result = await cli.run(act, { COUNTERFOIL_DATABASE_URL: readOnly.href })
    await cli.database.pool.query(`DROP ROLE ${login}`)
    expect(result).toMatchObject({ code: 7, stderr: expect.stringContaining('the database is read-only') })
  })
})
