import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { SourceContract } from '@counterfoil/core'
import { afterAll, describe, expect, test } from 'vitest'
import { formatDuration } from './duration.js'
import { loadConfig } from './load-config.js'

const folder = resolve(import.meta.dirname, '../../../docs/sources')
const pages = readdirSync(folder).filter((file) => file !== 'README.md')
const index = readFileSync(join(folder, 'README.md'), 'utf8')
const dir = mkdtempSync(join(tmpdir(), 'counterfoil-pages-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const IMPORTS = `import * as everything from '@counterfoil/config'
const { defineConfig, route, secret, hmac, ${listPresets().join(', ')} } = everything
`

function listPresets(): string[] {
  return [...index.matchAll(/^\| \[[^\]]+\]\([^)]+\) \| ([^|]+) \|/gm)]
    .flatMap(([, names]) => [...(names ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''))
    .filter((name) => name !== 'hmac')
}

/** The entry of a page as a whole configuration, with a secret of the right form for each that it names. */
async function loadPage(text: string) {
  const entry = /```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  const path = join(dir, `counterfoil-${Math.random().toString(36).slice(2)}.config.ts`)
  writeFileSync(path, `${IMPORTS}export default defineConfig({ sources: {\n${entry}}, destinations: {} })\n`)
  const names = [...entry.matchAll(/secret\.env\('(\w+)'\)/g)].map(([, name]) => name ?? '')
  const made = (name: string) => Buffer.from(`${name} of the documentation`).toString('base64')
  const form = entry.includes('standardWebhooks(') ? (name: string) => `whsec_${made(name)}` : made
  return loadConfig({ path, env: Object.fromEntries(names.map((name) => [name, form(name)])) })
}

/** Second column of the page's table, by the first. */
function readFacts(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, name, value]) => [name ?? '', value ?? '']))
}

function describeContract({ ack, answers, redeliveryHorizonMs }: SourceContract) {
  const [header] = Object.entries(answers.malformed?.headers ?? {})
  const refused = answers.malformed?.status ?? 400
  return {
    accepted: String(ack.status),
    refused: String(answers.unverified?.status ?? 401),
    unusable:
      ack.onMalformed === 'quarantine'
        ? `kept here, quarantined, and answered ${ack.status}`
        : `${refused}${header === undefined ? '' : ` with \`${header[0]}: ${header[1]}\``}`,
    waits: `${ack.senderTimeoutMs / 1000} s`,
    kept: formatDuration(redeliveryHorizonMs),
  }
}

describe.each(pages)('docs/sources/%s', (page) => {
  const text = readFileSync(join(folder, page), 'utf8')

  test('has an entry that is a configuration as it stands', async () => {
    const loaded = await loadPage(text)
    expect(loaded.problems.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(loaded.kind).toBe('loaded')
  })

  test('says what the source does', async () => {
    const loaded = await loadPage(text)
    const contract = loaded.kind === 'loaded' ? [...loaded.config.sources.values()][0] : undefined
    const facts = readFacts(text)
    const told = {
      accepted: facts.get('accepted, and every repeat'),
      refused: facts.get('wrong or stale signature'),
      unusable: facts.get('never usable')?.toLowerCase(),
      waits: /^\d+ s/.exec(facts.get('it waits') ?? '')?.[0],
      kept: facts.get('claims are kept')?.replace(' ', ''),
    }
    const { unusable, ...others } = describeContract(contract as SourceContract)
    expect(told).toEqual({ ...others, unusable: unusable.toLowerCase() })
  })

  test('has the same sections as every page, and is in the index', () => {
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['At the sender', 'The configuration', 'To test', 'What is said'])
    for (const word of ['How it retries', 'What our answers mean to it', 'Deliveries that it has given up on']) {
      expect(text).toContain(`**${word}.**`)
    }
    expect(index).toContain(`](${page})`)
  })
})

test('every preset has its page', () => {
  const exported = readFileSync(join(import.meta.dirname, 'index.ts'), 'utf8')
  const block = /export \{([^}]*)\} from '@counterfoil\/sources'/.exec(exported)?.[1] ?? ''
  const names = [...block.matchAll(/^ {2}(\w+),$/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(15)
  expect(listPresets().sort()).toEqual(names.sort())
})
