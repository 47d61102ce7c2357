import { describe, expect, it } from 'vitest'
import { judgeDatabase } from './judge-database.js'
import type { DatabaseFacts } from './read-database-facts.js'

const fit: DatabaseFacts = {
  kind: 'reached',
  version: 150_004,
  readOnly: false,
  synchronousCommit: 'on',
  defaultIsolation: 'read committed',
  encoding: 'UTF8',
  migrations: { pending: [], unknown: [] },
}

describe('judgeDatabase', () => {
  it.each(['on', 'local', 'remote_write', 'remote_apply'])('has nothing against synchronous_commit %s', (level) => {
    expect(judgeDatabase({ ...fit, synchronousCommit: level })).toEqual([])
  })

  it.each<[string, Partial<typeof fit>, string]>([
    ['an old server', { version: 140_011 }, 'PostgreSQL 14 is too old'],
    ['a standby', { readOnly: true }, 'read-only'],
    ['asynchronous commits (I1)', { synchronousCommit: 'off' }, 'synchronous_commit is off'],
    ['another isolation', { defaultIsolation: 'repeatable read' }, 'default isolation is repeatable read'],
    ['another encoding', { encoding: 'SQL_ASCII' }, 'encoded in SQL_ASCII'],
    [
      'an older schema',
      { migrations: { pending: ['0002_x.sql'], unknown: [] } },
      'older than this program (0002_x.sql',
    ],
    ['a newer schema', { migrations: { pending: [], unknown: ['0009_y.sql'] } }, 'newer than this program'],
  ])('refuses %s in one sentence', (_, change, text) => {
    const problems = judgeDatabase({ ...fit, ...change } as DatabaseFacts)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(text)
  })

  it('names every problem at once', () => {
    expect(judgeDatabase({ ...fit, version: 90_600, readOnly: true, synchronousCommit: 'off' })).toHaveLength(3)
  })

  it('says only that it is away when it is away', () => {
    expect(judgeDatabase({ kind: 'unreachable', cause: 'ECONNREFUSED' })).toEqual([
      "The database can't be reached: ECONNREFUSED. Check COUNTERFOIL_DATABASE_URL and that PostgreSQL is up.",
    ])
  })
})
