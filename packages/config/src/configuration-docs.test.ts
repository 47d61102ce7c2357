import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { destinationSchema } from './destination-schema.js'
import { loadConfig } from './load-config.js'
import { readSettings, settingNames } from './read-settings.js'
import { sourceSchema } from './source-schema.js'

const root = resolve(import.meta.dirname, '../../..')
const docs = readFileSync(resolve(root, 'docs/configuration.md'), 'utf8')
const example = readFileSync(resolve(root, '.env.example'), 'utf8')

function section(title: string): string {
  const from = docs.indexOf(`\n${title}\n`)
  const next = docs.indexOf('\n#', from + 1)
  return docs.slice(from, next === -1 ? undefined : next)
}

function firstColumn(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => [...(line.match(/^\| ([^|]+) \|/)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map((m) => m[1] ?? ''))
}

describe('docs/configuration.md', () => {
  test.each([
    ['### A source', Object.keys(sourceSchema.shape)],
    ['### A destination', Object.keys(destinationSchema.shape)],
    ['## The environment', settingNames()],
  ])('%s names exactly what is read', (title, known) => {
    expect(firstColumn(section(title)).sort()).toEqual([...known].sort())
  })
})

describe('the example of the docs', () => {
  test('is a configuration without a problem', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'counterfoil-docs-'))
    try {
      const path = join(dir, 'counterfoil.config.ts')
      writeFileSync(path, docs.match(/```ts\n([\s\S]*?)```/)?.[1] ?? '')
      const secrets = ['TICKETS_SECRET', 'CRM_TOKEN', 'ANA_TOKEN'].map((name) => [name, `${name} of the documentation`])
      expect(await loadConfig({ path, env: Object.fromEntries(secrets) })).toMatchObject({
        kind: 'loaded',
        problems: [],
      })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})

describe('.env.example', () => {
  test('holds every setting once, and starts as it is', () => {
    const given = [...example.matchAll(/^#?(COUNTERFOIL_\w+)=(.*)$/gm)]
    expect(given.map(([, name]) => name).sort()).toEqual(settingNames().sort())
    expect(readSettings(Object.fromEntries(given.map(([, name, value]) => [name ?? '', value])))).toMatchObject({
      kind: 'read',
      problems: [],
    })
  })
})
