import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseDuration } from './duration.js'
import { ENDPOINT_NAMES, ENDPOINTS, type Endpoint } from './endpoints.js'
import { loadConfig } from './load-config.js'
import { OUTCOME_WORDS } from './matcher-schema.js'
import { resolveConfig } from './resolve-config.js'

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/destinations/README.md'), 'utf8')

/** Cells of the table under a heading, without marks. */
function readRows(heading: string, table = 0): string[][] {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`)).split('\n## ')[1] ?? ''
  const rows = [...section.matchAll(/(?:^\|.*\|\n)+/gm)][table]?.[0].trimEnd().split('\n') ?? []
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll(/[`†]/g, '').trim()),
  )
}

/** As the page writes it. */
function wordKey({ idempotency }: Endpoint): [string, string] {
  if (idempotency === 'none') return ['none', '–']
  if (idempotency === 'upsert') return ['upsert', 'for ever']
  const place = 'pointer' in idempotency ? `body ${idempotency.pointer}` : `header ${idempotency.header}`
  const size = idempotency.form === 'uuid' ? 'a UUID' : String(idempotency.maxLength)
  return [`${place}, ${size}`.replace(' ,', ','), String(idempotency.lifetime)]
}

describe('docs/destinations', () => {
  test('begins with an entry that is a configuration as it stands', async () => {
    const entry = /```ts\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const dir = mkdtempSync(join(tmpdir(), 'counterfoil-destinations-'))
    try {
      const path = join(dir, 'counterfoil.config.ts')
      const text = `import { defineConfig, secret } from '@counterfoil/config'
export default defineConfig({ sources: {}, destinations: {\n${entry}} })\n`
      writeFileSync(path, text)
      expect(await loadConfig({ path, env: { PAY_TOKEN: 'a token' } })).toMatchObject({ kind: 'loaded', problems: [] })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  test('names every endpoint with the key and the lifetime that are in effect', () => {
    const told = readRows('Endpoints').map(([name, key, lifetime]) => [name, key?.replace(' ,', ','), lifetime])
    expect(told).toEqual(ENDPOINT_NAMES.map((name) => [name, ...wordKey(ENDPOINTS[name])]))
  })

  test('marks every endpoint that rests on general knowledge, and config check says so', () => {
    for (const name of ENDPOINT_NAMES) {
      const { unsure }: Endpoint = ENDPOINTS[name]
      const row = new RegExp(`^\\| \`${name}\` .*$`, 'm').exec(page)?.[0] ?? ''
      if (unsure !== undefined && name !== 'zendesk') expect(row, name).toContain('†')
    }
  })

  test('explains every outcome that a matcher can have', () => {
    expect(readRows('What its answers mean', 1).map(([word]) => word)).toEqual([...OUTCOME_WORDS])
  })
})

test.each(ENDPOINT_NAMES)('endpoint %s is a valid destination by itself', (endpoint) => {
  const definition = {
    sources: {},
    destinations: { api: { url: 'https://api.example/', endpoint, reviewWindow: '1d' } },
  }
  const result = resolveConfig(definition, { env: {}, baseDir: '/nowhere', now: 0 })
  expect(result.problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const { unsure, idempotency }: Endpoint = ENDPOINTS[endpoint]
  expect(result.problems.length).toBe(unsure === undefined ? 0 : 1)
  if (result.kind !== 'loaded' || typeof idempotency === 'string') return
  const contract = result.config.destinations.get('api')
  expect(contract?.idempotency).toMatchObject({ lifetimeMs: parseDuration(idempotency.lifetime) })
})
