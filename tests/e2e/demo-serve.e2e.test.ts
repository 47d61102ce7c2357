import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { manageProcess, until } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../../apps/cli/bin/counterfoil.mjs', import.meta.url))

type Serving = { readonly child: ChildProcess; readonly said: () => string; readonly ended: Promise<number | null> }

const started: Serving[] = []

/** What `npm start` runs once everything is built, here without the story. */
async function startServing(directory: string): Promise<Serving> {
  const child = spawn(process.execPath, [CLI, 'demo', '--serve', '--no-story'], { cwd: directory })
  // Should an expectation fail, the system must not outlive the test run.
  manageProcess(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const serving = { child, said: () => said, ended }
  started.push(serving)
  await until(() => said.includes('Serving.') || child.exitCode !== null, { timeoutMs: 90_000 })
  expect(said).toContain('Serving.')
  return serving
}

/** Processes that were started for this directory, by their arguments or environment. Linux tells, others don't. */
function listProcesses(directory: string): readonly string[] {
  if (!existsSync('/proc/self')) return []
  return readdirSync('/proc').filter((pid) => {
    try {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false
      return ['cmdline', 'environ'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(directory))
    } catch {
      return false
    }
  })
}

function readSample(said: string): {
  url: string
  port: number
  headers: Record<string, string>
  body: string
  ticket: string
} {
  const url = /curl -i (\S+)/.exec(said)?.[1] ?? ''
  const headers = Object.fromEntries(
    [...said.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name, value]),
  )
  const body = /-d '([^']+)'/.exec(said)?.[1] ?? ''
  const ticket = /counterfoil show (ticket-\d+)\n/.exec(said)?.[1] ?? ''
  return { url, port: Number(new URL(url).port), headers, body, ticket }
}

async function show(directory: string, ticket: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'show', ticket], { cwd: directory })
  return stdout
}

describe('a system that npm start serves', () => {
  let directory = ''
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'counterfoil-serve-'))
    chmodSync(directory, 0o755)
  })
  afterAll(async () => {
    for (const { child, ended } of started) {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await ended
    }
    rmSync(directory, { recursive: true, force: true })
  })

  it('takes the printed push, answers show, ends cleanly, keeps its data, and recovers from kill -9', async () => {
    const first = await startServing(directory)
    const sample = readSample(first.said())
    for (const _time of [1, 2]) {
      const response = await fetch(sample.url, { method: 'POST', headers: sample.headers, body: sample.body })
      expect(response.status).toBe(204)
    }
    await until(async () => (await show(directory, sample.ticket)).includes('Delivered once'), { timeoutMs: 20_000 })
    expect(await show(directory, sample.ticket)).toContain('1 repeat')

    first.child.kill('SIGINT')
    expect(await first.ended).toBe(0)
    expect(listProcesses(directory)).toEqual([])

    // The port that it would like is taken, by us or by somebody else: it says so and takes another.
    const squatter = createServer().on('error', () => {})
    squatter.listen(8080, '127.0.0.1')
    const second = await startServing(directory)
    squatter.close()
    expect(second.said()).toMatch(/Port \d+ is busy: the receiver listens on \d+/)
    expect(await show(directory, sample.ticket)).toContain('Delivered once')

    second.child.kill('SIGKILL')
    await second.ended
    await until(() => listProcesses(directory).length === 0, { timeoutMs: 20_000 })

    const third = await startServing(directory)
    expect(await show(directory, sample.ticket)).toContain('Delivered once')
    third.child.kill('SIGTERM')
    expect(await third.ended).toBe(0)
    expect(listProcesses(directory)).toEqual([])
  }, 240_000)
})
