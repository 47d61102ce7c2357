import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort, freshDatabase, type TestDatabase } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONFIG_PATH, type CommandResult, openSystem, type System } from '../system/open-system.js'
import { startRewritingProxy } from '../system/start-rewriting-proxy.js'

const ROLES = ['receiver', 'worker'] as const
const SETUP = 2
const UNREACHABLE = 7

describe('a start that is refused says why in one clear sentence', () => {
  let system: System
  let directory: string
  const databases: TestDatabase[] = []

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'counterfoil-refusals-'))
    system = await openSystem()
  })
  afterAll(async () => {
    await system.close()
    for (const database of databases) await database.drop()
    await rm(directory, { recursive: true })
  })

  const openDatabase = async (change: (name: string) => string): Promise<string> => {
    const database = await freshDatabase()
    databases.push(database)
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(change(database.name))
    await client.end()
    return database.url
  }
  const writeConfig = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name)
    await writeFile(path, text)
    return path
  }
  /** Both services refuse alike: with this code, saying this, and nothing that is not meant for people. */
  const expectRefusal = async (env: Readonly<Record<string, string>>, code: number, ...says: RegExp[]) => {
    const results = await Promise.all(ROLES.map((role) => system.run([role], env)))
    for (const result of results) expectClear(result, code, says)
  }
  const expectClear = ({ code: actual, stdout, stderr }: CommandResult, code: number, says: readonly RegExp[]) => {
    for (const pattern of says) expect(stderr).toMatch(pattern)
    expect(actual, stderr).toBe(code)
    expect(stderr + stdout).not.toMatch(/^\s+at .*[(:]\d+:\d+\)?$/m)
    const { password } = new URL(system.databaseUrl)
    expect(stderr + stdout).not.toContain(password)
    // One sentence a problem, under one headline.
    const problems = stderr.split('\n').filter((line) => /^ {2}\S/.test(line) && !/^ {2}(next|warning):/.test(line))
    expect(problems.length, stderr).toBe(says.length)
  }
  /** What is read before a service is anything of its own: one of the two shows it. */
  const expectSetupRefusal = async (env: Readonly<Record<string, string>>, ...says: RegExp[]) =>
    expectClear(await system.run(['receiver'], env), SETUP, says)
  const fixedConfig = (env: Readonly<Record<string, string>>) => ({ ...env, COUNTERFOIL_CONFIG: CONFIG_PATH })

  it('without a configuration', async () => {
    const missing = join(directory, 'nowhere.config.ts')
    await expectSetupRefusal({ COUNTERFOIL_CONFIG: missing }, /no configuration at .*nowhere\.config\.ts/)
  })

  it('with a syntax error, by file and line', async () => {
    const path = await writeConfig('syntax.config.ts', 'export default {\n  sources: {,\n}\n')
    await expectSetupRefusal({ COUNTERFOIL_CONFIG: path }, /syntax\.config\.ts, line 2/)
  })

  it('with a name that nobody knows, with the nearest one', async () => {
    const path = await writeConfig(
      'typo.config.ts',
      `import { defineConfig } from '@counterfoil/config'
       export default defineConfig({ sources: {}, destinations: {}, oprators: {} } as never)`,
    )
    await expectSetupRefusal({ COUNTERFOIL_CONFIG: path }, /oprators.*did you mean "operators"/)
  })

  it('with several problems, all at once', async () => {
    const path = await writeConfig(
      'several.config.ts',
      `import { defineConfig, hmacBody, secret } from '@counterfoil/config'
       export default defineConfig({
         sources: {
           tickets: {
             path: '/push/tickets',
             verify: hmacBody({ signatureHeader: 'X-Signature' }),
             keys: [{ id: 'k1', secret: secret.env('NOT_SET_ANYWHERE') }],
             deliveryId: { header: 'X-Delivery-ID' },
             redeliveryHorizon: '3d',
             ack: { senderTimeout: '1s', deadline: '2s' },
             routes: {},
           },
         },
         destinations: {
           crm: { url: 'https://crm.example/', idempotency: 'none', timeouts: { total: '20s' }, lease: '10s' },
         },
       })`,
    )
    await expectSetupRefusal(
      { COUNTERFOIL_CONFIG: path },
      /NOT_SET_ANYWHERE/,
      /sources\.tickets\.ack/,
      /destinations\.crm\.lease/,
    )
  })

  it('with wrong settings, all at once', async () => {
    const env = { COUNTERFOIL_POLL_MS: 'often', COUNTERFOIL_DATABASE_URL: 'mysql://nowhere/' }
    await expectSetupRefusal(env, /COUNTERFOIL_POLL_MS/, /COUNTERFOIL_DATABASE_URL/)
  })

  it('on a database that is not there', async () => {
    const url = new URL(system.databaseUrl)
    url.port = String(await findFreePort())
    await expectRefusal({ COUNTERFOIL_DATABASE_URL: url.href }, UNREACHABLE, /can't be reached: ECONNREFUSED/)
  })

  it('on a database that refuses the login', async () => {
    const url = new URL(system.databaseUrl)
    url.password = 'a-wrong-password'
    await expectRefusal({ COUNTERFOIL_DATABASE_URL: url.href }, UNREACHABLE, /can't be reached: .*28P01/)
  })

  it.each([
    ['that is read-only', (db: string) => `ALTER DATABASE ${db} SET default_transaction_read_only = on`, /read-only/],
    [
      'where synchronous_commit is off (I1)',
      (db: string) => `ALTER DATABASE ${db} SET synchronous_commit = off`,
      /synchronous_commit is off/,
    ],
    [
      'whose default isolation is another',
      (db: string) => `ALTER DATABASE ${db} SET default_transaction_isolation = 'repeatable read'`,
      /default isolation is repeatable read/,
    ],
    ['whose schema is older', () => 'DROP SCHEMA counterfoil CASCADE', /older than this program.*migrate up/],
    [
      'whose schema is newer',
      () =>
        `INSERT INTO counterfoil.migration (name, batch, migration_time) VALUES ('9999_from_the_future.sql', 99, now())`,
      /newer than this program.*9999_from_the_future/,
    ],
  ] as const)('on a database %s', async (_what, change, says) => {
    const url = await openDatabase(change)
    await expectRefusal(fixedConfig({ COUNTERFOIL_DATABASE_URL: url }), SETUP, says)
  })

  it('on a server that is too old', async () => {
    const { rows } = await system.pool.query<{ version: string }>(
      `SELECT current_setting('server_version_num') AS version`,
    )
    const version = rows[0]?.version ?? ''
    const url = new URL(system.databaseUrl)
    const proxy = await startRewritingProxy(Number(url.port), version, '140013')
    url.port = String(proxy.port)
    await expectRefusal({ COUNTERFOIL_DATABASE_URL: url.href }, SETUP, /PostgreSQL 14 is too old: version 15/)
    await proxy.close()
  })

  it('I12: with entries still to be sent to a destination that was removed', async () => {
    const url = await openDatabase(
      () => `
      INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
      VALUES ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), 'crm2', 'k', '{}', sha256('{}'), 'application/json');
      INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
      VALUES ('00000000-0000-7000-8000-000000000001', 'crm2', now(), 0, 0)`,
    )
    const result = await system.run(['worker'], { COUNTERFOIL_DATABASE_URL: url })
    expectClear(result, SETUP, [/no destination "crm2"/])
  })

  it('on a port that somebody else has', async () => {
    const { port } = await system.startReceiver()
    const result = await system.run(['receiver'], { COUNTERFOIL_PORT: String(port) })
    expectClear(result, SETUP, [new RegExp(`${port}.*COUNTERFOIL_PORT`)])
  })
})
