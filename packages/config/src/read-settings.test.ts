import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from './read-settings.js'

const DATABASE = { COUNTERFOIL_DATABASE_URL: 'postgres://app@127.0.0.1:5432/counterfoil' }

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-settings-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function settings(env: Record<string, string>, role?: 'receiver' | 'worker') {
  const result = readSettings({ ...DATABASE, ...env }, role)
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems))
  return result.settings
}

describe('readSettings', () => {
  test('needs only a database; everything else has a default', () => {
    expect(settings({})).toEqual({
      databaseUrl: DATABASE.COUNTERFOIL_DATABASE_URL,
      operatorDatabaseUrl: null,
      databasePool: 10,
      configPath: './counterfoil.config.ts',
      host: '127.0.0.1',
      port: 8080,
      healthHost: '127.0.0.1',
      healthPort: 8081,
      redisUrl: null,
      logLevel: 'info',
      spoolDir: '.counterfoil/spool',
      instance: expect.stringMatching(/^\S+-\d+-[0-9a-f]{6}$/),
      maxQueuedPushes: 5_000,
      maxQueuedBytes: 67_108_864,
      clockToleranceMs: 2_000,
      graceMs: 10_000,
      drainDelayMs: 0,
      pollMs: 1_000,
      operatorToken: null,
    })
    expect(settings({}, 'worker').healthPort).toBe(8082)
  })

  test('an empty variable is a variable that is not set', () => {
    expect(settings({ COUNTERFOIL_REDIS_URL: '', COUNTERFOIL_PORT: '' })).toMatchObject({ redisUrl: null, port: 8080 })
  })

  test('tells all problems at once, by variable, and never a value', () => {
    const result = readSettings({
      COUNTERFOIL_DATABASE_URL: 'mysql://root:hunter2@db/x',
      COUNTERFOIL_PORT: '70000',
      COUNTERFOIL_POLL_MS: '1s',
      COUNTERFOIL_LOG_LEVEL: 'loud',
      COUNTERFOIL_MAX_QUEUED_BYTES: '12',
    })
    expect(result.kind).toBe('invalid')
    expect(new Set(result.problems.map(({ path }) => path))).toEqual(
      new Set([
        'COUNTERFOIL_DATABASE_URL',
        'COUNTERFOIL_LOG_LEVEL',
        'COUNTERFOIL_MAX_QUEUED_BYTES',
        'COUNTERFOIL_POLL_MS',
        'COUNTERFOIL_PORT',
      ]),
    )
    expect(JSON.stringify(result.problems)).not.toContain('hunter2')
  })

  test('without a database it says what to give', () => {
    expect(readSettings({}).problems).toEqual([
      { severity: 'error', path: 'COUNTERFOIL_DATABASE_URL', message: expect.stringContaining('is not set') },
    ])
  })

  test('a mistyped name is a warning with the nearest one', () => {
    const result = readSettings({ ...DATABASE, COUNTERFOIL_REDIS_ULR: 'redis://x' })
    expect(result.kind).toBe('read')
    expect(result.problems).toEqual([
      {
        severity: 'warning',
        path: 'COUNTERFOIL_REDIS_ULR',
        message: expect.stringContaining('did you mean "COUNTERFOIL_REDIS_URL"?'),
      },
    ])
  })

  test('every variable may come from a file; both at once or a missing file is an error', () => {
    const file = join(dir, 'url')
    writeFileSync(file, 'redis://:secret@127.0.0.1:6379/0\n')
    expect(settings({ COUNTERFOIL_REDIS_URL_FILE: file }).redisUrl).toBe('redis://:secret@127.0.0.1:6379/0')
    const both = { ...DATABASE, COUNTERFOIL_REDIS_URL_FILE: file, COUNTERFOIL_REDIS_URL: 'redis://x' }
    expect(readSettings(both).problems).toEqual([
      { severity: 'error', path: 'COUNTERFOIL_REDIS_URL', message: expect.stringContaining('unset one of the two') },
    ])
    const missing = { COUNTERFOIL_DATABASE_URL_FILE: join(dir, 'nope') }
    expect(readSettings(missing).problems).toEqual([
      { severity: 'error', path: 'COUNTERFOIL_DATABASE_URL', message: expect.stringContaining('does not exist') },
    ])
  })
})
