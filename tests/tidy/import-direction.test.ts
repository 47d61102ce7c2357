import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Which workspace packages a part may import; the arrows of docs/architecture.md. */
const ALLOWED = new Map<string, readonly string[]>([
  ['packages/core', []],
  ['packages/db', ['core']],
  ['packages/sources', ['core']],
  ['packages/config', ['core', 'sources']],
  ['packages/queue', ['core', 'db', 'config']],
  ['apps/receiver', ['core', 'db', 'config', 'queue']],
  ['apps/worker', ['core', 'db', 'config', 'queue']],
  ['apps/cli', ['core', 'sources', 'db', 'config', 'queue', 'receiver', 'worker']],
])

/** Libraries that belong to one part: whoever else wants them goes through it. */
const OWNED = new Map<string, readonly string[]>([
  ['knex', ['packages/db']],
  ['bullmq', ['packages/queue']],
  ['ioredis', ['packages/queue']],
  ['jiti', ['packages/config']],
  ['jose', ['packages/sources']],
  ['undici', ['apps/worker']],
])

// The rules have no file system, no network and no clock to go to.
const CORE_BUILTINS = ['node:buffer', 'node:crypto', 'node:util', 'node:url', 'node:net']

const isTest = (path: string) => /\.test\.ts$|\.int-setup\.ts$|(^|\/)testing\//.test(path)

function listSources(part: string): readonly string[] {
  const directory = join(ROOT, part, 'src')
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !isTest(name))
    .map((name) => join(directory, name))
}

function listImports(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map((match) => match[1] ?? '')
}

function isAllowed(part: string, path: string, target: string, allowed: readonly string[]): boolean {
  if (target.startsWith('.')) return resolve(path, '..', target).startsWith(join(ROOT, part))
  if (target.startsWith('@counterfoil/')) return allowed.includes(target.split('/')[1] ?? '')
  if (part === 'packages/core') return CORE_BUILTINS.includes(target)
  return OWNED.get(target)?.includes(part) ?? true
}

describe('import direction', () => {
  it.each([...ALLOWED])('%s imports only %j of the workspace', (part, allowed) => {
    const wrong = listSources(part).flatMap((path) =>
      listImports(path)
        .filter((target) => !isAllowed(part, path, target, allowed))
        .map((target) => `${relative(ROOT, path)} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })
})
