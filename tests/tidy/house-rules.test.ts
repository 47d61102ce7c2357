import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '')

const code = tracked.filter((file) => /\.(ts|mjs)$/.test(file))
const production = code.filter(
  (file) =>
    /^(packages|apps)\//.test(file) &&
    !/\.test\.ts$|\.int-setup\.ts$|\/testing\//.test(file) &&
    !file.startsWith('packages/testkit/'),
)
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const thisFile = 'tests/tidy/house-rules.test.ts'

describe('the house rules', () => {
  it('leaves no note to self behind', () => {
    const pattern = new RegExp(`${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')}|\\bXXX\\b`)
    expect(code.filter((file) => file !== thisFile && pattern.test(read(file)))).toEqual([])
  })

  it('has no focused, skipped or retried test', () => {
    const pattern = /\b(it|test|describe)\.(only|skip|todo|fails)\b|\bretry:\s*[1-9]/
    expect(code.filter((file) => file !== thisFile && pattern.test(read(file)))).toEqual([])
  })

  it('names files in kebab case and never after a grab bag', () => {
    const bad = code.filter((file) => {
      const name = basename(file, extname(file))
        .replace(/(\.(int|e2e|properties))?\.(test|int-setup)$/, '')
        .replace(/\.config$/, '')
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || /^(utils?|common|helpers?|manager|misc)$/.test(name)
    })
    expect(bad).toEqual([])
  })

  it('keeps both spine files on one screen', () => {
    for (const spine of ['apps/receiver/src/receive-push.ts', 'apps/worker/src/deliver-one.ts']) {
      expect(read(spine).split('\n').length, spine).toBeLessThanOrEqual(90)
    }
  })

  it('keeps every production file to one idea, 350 lines at most', () => {
    const long = production.filter((file) => read(file).split('\n').length > 350)
    expect(long).toEqual([])
  })

  it('keeps SQL in packages/db and migrations', () => {
    const sql = /\b(INSERT INTO|DELETE FROM|SELECT .* FROM|UPDATE \w+(\.\w+)? SET)\b/
    const strangers = production.filter((file) => !file.startsWith('packages/db/') && sql.test(read(file)))
    // The demo owns business tables of its own, as a user would.
    expect(strangers.filter((file) => !file.startsWith('apps/cli/src/demo/'))).toEqual([])
  })

  it('writes through the log or stdout, never through console', () => {
    expect(production.filter((file) => /\bconsole\.(log|error|warn|info)\(/.test(read(file)))).toEqual([])
  })

  it('names no path of one machine', () => {
    const pattern = new RegExp(['/wo', 'rk/|/ro', 'ot/|/home/\\w'].join(''))
    const text = tracked.filter((file) => /\.(ts|mjs|md|json|ya?ml|sql|sh)$/.test(file) && file !== thisFile)
    expect(text.filter((file) => pattern.test(read(file)))).toEqual([])
  })
})
