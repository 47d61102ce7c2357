import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFreePort } from '../process/find-free-port.js'
import { type AppProcess, spawnApp } from './spawn-app.js'

// Stands in for the built program: logs JSON lines, is ready after a moment, and needs a moment to stop.
const PROGRAM = `
import { createServer } from 'node:http'
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n')
say({ msg: 'starting', args: process.argv.slice(2), secretless: process.env.TESTKIT_LEAK === undefined })
if (process.argv[2] === 'fail') { process.stderr.write('no database\\n'); process.exit(7) }
let ready = false
setTimeout(() => { ready = true }, 50)
const server = createServer((req, res) => res.writeHead(ready ? 200 : 503).end())
server.listen(Number(process.env.COUNTERFOIL_HEALTH_PORT), '127.0.0.1')
process.on('SIGTERM', () => { say({ msg: 'stopped' }); process.exit(3) })
`

describe('spawnApp', () => {
  let directory: string
  let script: string
  let env: Record<string, string>
  let app: AppProcess | null = null

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'counterfoil-app-'))
    script = join(directory, 'program.mjs')
    await writeFile(script, PROGRAM)
    env = { COUNTERFOIL_HEALTH_PORT: String(await findFreePort()) }
  })
  afterAll(async () => {
    await app?.kill9()
    await rm(directory, { recursive: true })
  })

  it('waits for the log line and for readiness, and returns the exit code', async () => {
    process.env.TESTKIT_LEAK = 'yes'
    app = spawnApp(['receiver'], { script, env })
    delete process.env.TESTKIT_LEAK
    const line = await app.waitForLog(({ msg }) => msg === 'starting')
    expect(line).toEqual({ msg: 'starting', args: ['receiver'], secretless: true })
    await app.waitReady()
    expect(await app.terminate()).toEqual({ code: 3, signal: null })
    expect(app.lines.at(-1)).toEqual({ msg: 'stopped' })
  })

  it('says what the program wrote when it ends before it is ready', async () => {
    app = spawnApp(['fail'], { script, env })
    await expect(app.waitReady()).rejects.toThrow('no database')
    expect(await app.ended).toEqual({ code: 7, signal: null })
  })

  it('is killed in the middle', async () => {
    app = spawnApp(['worker'], { script, env })
    await app.waitReady()
    expect(await app.kill9()).toEqual({ code: null, signal: 'SIGKILL' })
  })
})
