import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { until } from './until.js'

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('guardProcess', () => {
  it('ends the child, even a stopped one, and removes its directory when its parent is killed', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'counterfoil-guard-'))
    const source = `
      import { spawn } from 'node:child_process'
      import { guardProcess } from ${JSON.stringify(new URL('./guard-process.ts', import.meta.url).href)}
      const child = spawn('sleep', ['600'], { detached: true })
      guardProcess(child, 'TERM', ${JSON.stringify(directory)})
      child.kill('SIGSTOP')
      process.stdout.write(String(child.pid))
      setInterval(() => {}, 1000)`
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
    const parent = spawn(process.execPath, ['--import', tsx, '--input-type=module', '-e', source])
    const [output] = await once(parent.stdout, 'data')
    const pid = Number(String(output))
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await until(() => !isAlive(pid))
    await until(() =>
      access(directory).then(
        () => false,
        () => true,
      ),
    )
  })
})
