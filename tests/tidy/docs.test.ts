import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const documents = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** Every match of a pattern's first group in any document, with the document that holds it. */
function findAll(pattern: RegExp): { document: string; text: string }[] {
  return documents.flatMap((document) =>
    [...read(document).matchAll(pattern)].map((match) => ({ document, text: match[1] ?? '' })),
  )
}

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** Files whose options a command takes up beside its own: by their import. */
const SHARED: Readonly<Record<string, string>> = {
  'contract-options': 'apps/cli/src/signature/contract-options.ts',
  'plan-options': 'apps/cli/src/plans/plan-options.ts',
}

/** The options that a command declares itself, and those that it shares with others. */
function listOptions(command: string): readonly (string | undefined)[] {
  const own = read(`apps/cli/src/commands/${command}.ts`)
  const shared = Object.entries(SHARED).flatMap(([name, file]) => (own.includes(`/${name}.js'`) ? [read(file)] : []))
  return [...[own, ...shared].join('').matchAll(/(--[a-z][a-z-]*)/g)].map((match) => match[1])
}

/** Command → every option that its own source declares, or what it shares. A group's subcommands share one file. */
const commands = new Map(
  [
    'approve',
    'cancel',
    'config',
    'demo',
    'dev',
    'doctor',
    'find',
    'migrate',
    'plan',
    'push',
    'receiver',
    'reconcile',
    'reconcile-source',
    'redrive',
    'release',
    'send-again',
    'settle',
    'show',
    'sign',
    'verify',
    'worker',
  ].map((name) => [name, listOptions(name)]),
)

describe('the documents', () => {
  it('link only to files that exist', () => {
    const links = findAll(/\]\((?!https?:|#)([^)#\s]+)/g)
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter(({ document, text }) => !existsSync(join(root, dirname(document), text)))).toEqual([])
  })

  it('name only paths that exist', () => {
    const paths = findAll(/`((?:apps|packages|tests|docs|examples|migrations|scripts|bench|deploy|\.ci)\/[\w./-]*)`/g)
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter(({ text }) => !existsSync(join(root, text)))).toEqual([])
  })

  it('name only npm scripts that exist', () => {
    const named = findAll(/\bnpm (?:run )?((?<=run )[a-z:]+|start|test\b)/g)
    expect(named.filter(({ text }) => scripts[text] === undefined)).toEqual([])
  })

  it('name only commands and options of counterfoil that exist', () => {
    const calls = findAll(/^(?: {4}|\s*(?:npx )|.*\| |\$ )?(?:npx )?counterfoil ([a-z].*)$/gm)
    expect(calls.length).toBeGreaterThan(10)
    const wrong = calls.filter(({ text }) => {
      const known = commands.get(/^[a-z][a-z-]*/.exec(text)?.[0] ?? '')
      const options = (text.split(/\s#|`/)[0] ?? '').match(/--[a-z][a-z-]*/g) ?? []
      return known === undefined || options.some((option) => !known.includes(option) && option !== '--help')
    })
    expect(wrong).toEqual([])
  })
})
