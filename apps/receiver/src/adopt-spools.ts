import { randomBytes } from 'node:crypto'
import { open, readdir, rename, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { UnclaimedTrace } from '@counterfoil/core'
import { parseTraceLine } from './trace-line.js'

/** A living owner touches its file every 5 s, so one that is this old has none; needed where a pid says nothing. */
const STALE_MS = 60_000
const NAME = /^unclaimed\.([A-Za-z0-9-]+)\.(\d+)\.[0-9a-f]{12}\.jsonl$/

export type AdoptedSpool = {
  /** Under a name of ours now: remove it when its traces are safe. */
  readonly path: string
  readonly traces: readonly UnclaimedTrace[]
  readonly corruptLines: number
}

/** A name that tells whose file it is. */
export function spoolPath(dir: string): string {
  return join(dir, `unclaimed.${hostLabel()}.${process.pid}.${randomBytes(6).toString('hex')}.jsonl`)
}

/**
 * Takes over the files of processes that are gone. Renaming decides: of two that try, one gets the file.
 *
 * @param own paths that belong to this spool
 */
export async function adoptSpools(dir: string, own: ReadonlySet<string>, maxBytes: number): Promise<AdoptedSpool[]> {
  const adopted: AdoptedSpool[] = []
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name)
    if (own.has(path) || !(await isOrphan(path, name))) continue
    const taken = spoolPath(dir)
    const won = await rename(path, taken).then(
      () => true,
      () => false,
    )
    if (won) adopted.push({ path: taken, ...parseSpool(await readStart(taken, maxBytes)) })
  }
  return adopted
}

async function isOrphan(path: string, name: string): Promise<boolean> {
  const match = NAME.exec(name)
  if (match === null) return false
  const modifiedAt = await stat(path).then(
    (stats) => stats.mtimeMs,
    () => null,
  )
  if (modifiedAt === null) return false
  if (Date.now() - modifiedAt > STALE_MS) return true
  if (match[1] !== hostLabel()) return false
  const pid = Number(match[2])
  // In a container every start has the same pid: what was last touched before this process began is not its own.
  return pid === process.pid ? modifiedAt < performance.timeOrigin : !isAlive(pid)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function hostLabel(): string {
  return hostname().replace(/[^A-Za-z0-9-]/g, '-') || 'host'
}

async function readStart(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function parseSpool(text: string): { traces: UnclaimedTrace[]; corruptLines: number } {
  const traces: UnclaimedTrace[] = []
  let corruptLines = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    const trace = parseTraceLine(line)
    if (trace === null) corruptLines += 1
    else traces.push(trace)
  }
  return { traces, corruptLines }
}
