import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AppProcess, findFreePort, freshDatabase, spawnApp, type TestDatabase, until } from '@counterfoil/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

// The command as a process of its own: streams, signals and exit codes. What it says is tested beside its source.

const CONFIG = `
import { defineConfig, hmacBody, route, secret } from '@counterfoil/config'
export default defineConfig({
  sources: {
    tickets: {
      path: '/push/tickets',
      verify: hmacBody({ signatureHeader: 'X-Signature' }),
      keys: [{ id: 'demo-1', secret: secret.env('PUSH_SECRET') }],
      deliveryId: { header: 'X-Delivery-ID' },
      redeliveryHorizon: '3d',
      ack: { senderTimeout: '10s', deadline: '2s' },
      routes: {},
      otherwise: route({ actions: () => [] }),
    },
  },
  destinations: {},
})
`

let database: TestDatabase
let directory: string
let env: Record<string, string>
let app: AppProcess | null = null

beforeAll(async () => {
  database = await freshDatabase()
  directory = await mkdtemp(join(tmpdir(), 'counterfoil-e2e-'))
  await writeFile(join(directory, 'counterfoil.config.ts'), CONFIG)
  env = {
    PUSH_SECRET: 'demo-push-secret-0123456789abcdef',
    COUNTERFOIL_DATABASE_URL: database.url,
    COUNTERFOIL_CONFIG: join(directory, 'counterfoil.config.ts'),
    COUNTERFOIL_SPOOL_DIR: join(directory, 'spool'),
  }
})
afterEach(async () => {
  await app?.kill9()
  app = null
})
afterAll(async () => {
  await database.drop()
  await rm(directory, { recursive: true })
})

async function run(args: readonly string[], change: Record<string, string> = {}) {
  app = spawnApp(args, { env: { ...env, ...change } })
  const { code } = await app.ended
  return { code, stdout: app.stdout(), stderr: app.stderr() }
}

async function ports() {
  return { COUNTERFOIL_PORT: String(await findFreePort()), COUNTERFOIL_HEALTH_PORT: String(await findFreePort()) }
}

describe('the counterfoil process', () => {
  it('keeps data and the rest apart, and paints nothing into a pipe', async () => {
    const found = await run(['show', 'ticket-1'], { CI: 'true' })
    expect(found).toMatchObject({ code: 3, stderr: '' })
    expect(found.stdout).toContain('No record')
    expect(found.stdout).not.toContain('\u001b')
    const painted = await run(['show', 'ticket-1'], { FORCE_COLOR: '1' })
    expect(painted.stdout).toContain('\u001b[')
    expect((await run(['show', 'ticket-1'], { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain('\u001b')
  })

  it.each(['receiver', 'worker'])('%s drains at SIGTERM and ends with 0', async (role) => {
    app = spawnApp([role], { env: { ...env, ...(await ports()) } })
    await app.waitReady()
    expect(await app.terminate()).toEqual({ code: 0, signal: null })
    expect(app.stderr()).toContain('SIGTERM: draining')
  })

  it.each(['receiver', 'worker'])('%s says in one sentence why it does not start', async (role) => {
    const away = await run([role], { COUNTERFOIL_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/x', ...(await ports()) })
    expect(away.code).toBe(7)
    expect(away.stderr).toMatch(/can't be reached/)
    const none = await run([role], { COUNTERFOIL_CONFIG: '/nonexistent.ts', ...(await ports()) })
    expect(none.code).toBe(2)
    expect(none.stderr).toContain('no configuration at /nonexistent.ts')
    for (const { stderr } of [away, none]) expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('stops a push at the first signal, says how far it came, and ends with 130', async () => {
    app = spawnApp(
      ['push', '--source', 'tickets', '--file', env.COUNTERFOIL_CONFIG ?? '', '--url', 'http://127.0.0.1:1/'],
      { env },
    )
    const running = app
    await until(() => running.stderr().includes('push 1: no answer (ECONNREFUSED)'))
    expect(await app.terminate()).toEqual({ code: 130, signal: null })
    expect(app.stdout()).toContain('1 interrupted')
  })

  it('runs receiver and worker together, and ends both at one signal', async () => {
    const chosen = await ports()
    app = spawnApp(['dev'], { env: { ...env, ...chosen }, cwd: directory })
    await app.waitReady(60_000)
    const body = join(directory, 'event.json')
    await writeFile(body, '{"n":1}')
    const push = spawnApp(['push', '--source', 'tickets', '--id', 'd-1', '--file', body], {
      env: { ...env, ...chosen },
    })
    expect((await push.ended).code).toBe(0)
    expect(await app.terminate()).toEqual({ code: 0, signal: null })
  })
})
