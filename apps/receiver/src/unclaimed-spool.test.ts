import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UnclaimedTrace } from '@counterfoil/core'
import { until } from '@counterfoil/testkit'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatTraceLine } from './trace-line.js'
import { createUnclaimedSpool, type UnclaimedSpool } from './unclaimed-spool.js'

const soon = () => performance.now() + 2000
let dir: string
let stored: UnclaimedTrace[]
let databaseIsAway: boolean
let logged: string[]
const opened: UnclaimedSpool[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'spool-'))
  stored = []
  databaseIsAway = false
  logged = []
})
afterEach(async () => {
  for (const spool of opened.splice(0)) await spool.close(performance.now())
  await rm(dir, { recursive: true, force: true })
})

const trace = (number: number): UnclaimedTrace => ({
  id: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
  source: 'tickets',
  deliveryId: `d-${number}`,
  identityDigest: Buffer.alloc(32, number),
  seenAt: 1000 + number,
  cause: 'unavailable: sqlstate 57P01',
})

function openSpool(limits: { maxTraces?: number; dir?: string } = {}): UnclaimedSpool {
  const recordUnclaimed = async (traces: readonly UnclaimedTrace[]) => {
    if (databaseIsAway) throw new Error('away')
    stored.push(...traces)
  }
  const spool = createUnclaimedSpool({
    dir: limits.dir ?? dir,
    store: { recordUnclaimed },
    maxTraces: limits.maxTraces ?? 1000,
    maxBytes: 1_000_000,
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
  })
  opened.push(spool)
  return spool
}

const readFiles = async () => {
  const texts = await Promise.all((await readdir(dir)).map((name) => readFile(join(dir, name), 'utf8')))
  return texts.join('')
}
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid
const fileOf = (pid: number, host = hostname()) =>
  join(dir, `unclaimed.${host.replace(/[^A-Za-z0-9-]/g, '-')}.${pid}.0123456789ab.jsonl`)

describe('the spool of authenticated pushes without a claim', () => {
  it('is on the disk at once, and written down and emptied by the next good commit', async () => {
    const spool = openSpool()
    spool.add(trace(1))
    spool.add(trace(2))
    await until(async () => (await readFiles()).split('\n').length === 3)
    spool.noteCommit()
    await until(async () => stored.length === 2 && (await readFiles()) === '')
    expect(stored).toEqual([trace(1), trace(2)])
  })

  it('leaves no file behind when nothing was ever spooled', async () => {
    const spool = openSpool()
    spool.noteCommit()
    await spool.close(soon())
    expect(await readdir(dir)).toEqual([])
  })

  it('keeps what the database does not take, and tries again', async () => {
    const spool = openSpool()
    databaseIsAway = true
    spool.add(trace(1))
    spool.noteCommit()
    await until(() => logged.some((line) => line.includes('spool.kept')))
    expect(spool.depth()).toBe(1)
    databaseIsAway = false
    await until(() => {
      spool.noteCommit()
      return stored.length === 1
    })
  })

  it('survives the end of its process: the next one adopts the file, however it ended', async () => {
    databaseIsAway = true
    const path = fileOf(deadPid())
    await writeFile(path, `${formatTraceLine(trace(1))}{"id":"torn`)
    databaseIsAway = false
    const spool = openSpool()
    await spool.start()
    await until(() => stored.length === 1)
    expect(stored).toEqual([trace(1)])
    expect(logged.join('')).toContain('"corruptLines":1')
    await spool.close(soon())
    expect(await readdir(dir)).toEqual([])
  })

  it('stays on the disk through a stop while the database is away', async () => {
    databaseIsAway = true
    const spool = openSpool()
    spool.add(trace(1))
    await spool.close(soon())
    expect(await readFiles()).toBe(formatTraceLine(trace(1)))
  })

  it('leaves the file of a living process alone, and takes one that nobody touched for a minute', async () => {
    const living = fileOf(process.ppid)
    const abandoned = fileOf(1, 'another-host')
    await writeFile(living, formatTraceLine(trace(1)))
    await writeFile(abandoned, formatTraceLine(trace(2)))
    const longAgo = new Date(Date.now() - 120_000)
    await utimes(abandoned, longAgo, longAgo)
    await openSpool().start()
    await until(() => stored.length === 1)
    expect(stored).toEqual([trace(2)])
    expect(await readFile(living, 'utf8')).toBe(formatTraceLine(trace(1)))
  })

  it('gives each trace of one dead process to one adopter only', async () => {
    await writeFile(fileOf(deadPid()), [1, 2, 3].map((number) => formatTraceLine(trace(number))).join(''))
    await Promise.all([openSpool().start(), openSpool().start()])
    await until(() => stored.length === 3)
    expect(stored.map(({ deliveryId }) => deliveryId).sort()).toEqual(['d-1', 'd-2', 'd-3'])
  })

  it('skips lines that are corrupt, foreign or too long', async () => {
    const lines = [
      'not json',
      'null',
      '[]',
      '{"id":1}',
      formatTraceLine({ ...trace(1), id: 'no-uuid' }),
      formatTraceLine({ ...trace(1), deliveryId: 'x'.repeat(2000) }),
      formatTraceLine({ ...trace(1), identityDigest: Buffer.alloc(3) }),
      formatTraceLine(trace(7)),
    ]
    await writeFile(fileOf(deadPid()), lines.map((line) => `${line.trim()}\n`).join(''))
    await openSpool().start()
    await until(() => stored.length === 1)
    expect(stored).toEqual([trace(7)])
  })

  it('is bounded: what is beyond is dropped and told, and nothing fails', async () => {
    databaseIsAway = true
    const spool = openSpool({ maxTraces: 2 })
    for (let number = 1; number <= 5; number += 1) spool.add(trace(number))
    expect(spool.depth()).toBe(2)
    expect(logged.join('')).toContain('spool.full')
  })

  it('fails no push when the disk can not be written, and still writes down from memory', async () => {
    const notADirectory = join(dir, 'file')
    await writeFile(notADirectory, '')
    await chmod(notADirectory, 0o400)
    const spool = openSpool({ dir: join(notADirectory, 'spool') })
    spool.add(trace(1))
    await until(() => logged.some((line) => line.includes('spool.disk_failed')))
    spool.add(trace(2))
    spool.noteCommit()
    await until(() => stored.length === 2)
    await spool.close(soon())
  })

  it('holds ids and a digest, never a payload (I10)', async () => {
    expect(Object.keys(JSON.parse(formatTraceLine(trace(1))) as object)).toEqual([
      'id',
      'source',
      'deliveryId',
      'digest',
      'seenAt',
      'cause',
    ])
  })
})
