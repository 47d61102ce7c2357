import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url))
const KILLS = 20

type KillRun = {
  readonly ok: boolean
  readonly kills: readonly { readonly inSendWindow: boolean; readonly flowedAgainMs: number }[]
  readonly scenes: readonly unknown[]
  readonly problems: readonly string[]
}

function runDemo(args: readonly string[]): Promise<KillRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, 'demo', '--json', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
    })
    child.once('close', () => {
      try {
        resolve(JSON.parse(said) as KillRun)
      } catch (error) {
        reject(error)
      }
    })
  })
}

describe('kill -9 of receiver and worker while the demo is played', () => {
  const seed = Number(process.env.SEED ?? randomInt(1_000_000))

  it(`makes no second action and no false verdict, and others flow again within 5 s (seed ${seed})`, async () => {
    const run = await runDemo(['--kills', String(KILLS), '--seed', String(seed)])
    expect(run.problems).toEqual([])
    expect(run.kills).toHaveLength(KILLS)
    expect(run.kills.filter((kill) => kill.inSendWindow)).toHaveLength(KILLS / 2)
    expect(run.scenes.length).toBeGreaterThan(0)
    expect(run.ok).toBe(true)
  }, 600_000)
})
