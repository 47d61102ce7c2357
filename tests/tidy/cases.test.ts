import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const [covered = '', open = ''] = read('docs/cases.md').split('## Not covered yet')
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| (B\d{3}) \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, id = '', kind = '', rest = '']) => ({
    id,
    kind,
    rest,
  }))

/** `id: kind @ file`, as the list says it. */
const listed = rowsOf(covered).flatMap(({ id, kind, rest }) =>
  [...rest.matchAll(/`([^`]+)`/g)].map(([, file]) => `${id}: ${kind} @ ${file}`),
)

/** The same, as the titles of the tests say it. */
const tagged = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('tests/tidy/'))
  .flatMap((file) => [...read(file).matchAll(/\(case (B\d{3}: [^)]+)\)/g)].map(([, tag]) => `${tag} @ ${file}`))

/** The cases of signatures, identity, HTTP and reservations: none may fall out of the list. */
const REQUIRED = [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 20, 22, 23, 24]
  .concat([25, 26, 27, 29, 30, 31, 32, 33, 34], [46, 47, 48, 50, 51], [92, 93])
  .map((number) => `B${String(number).padStart(3, '0')}`)

describe('the list of public cases', () => {
  it('names exactly the tests that carry a tag, with the words of the tag', () => {
    expect([...new Set(tagged)].sort()).toEqual([...listed].sort())
  })

  it('has every case once, covered or not', () => {
    const ids = [...rowsOf(covered), ...rowsOf(open)].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(71)
    expect(REQUIRED).toHaveLength(35)
    expect(REQUIRED.filter((id) => !ids.includes(id))).toEqual([])
  })
})
