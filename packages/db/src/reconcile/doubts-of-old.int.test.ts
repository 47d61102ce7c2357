import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '@counterfoil/testkit'
import { expect, it } from 'vitest'
import { openDatabase } from '../connection/index.js'
import { migrateUp, readMigrationStatus } from '../migrate/index.js'
import { MIGRATIONS_DIRECTORY } from '../migrate/read-migrations.js'
import { askDue } from './index.js'

it('I12: doubts that were held before the upgrade are open doubts after it', async () => {
  const fresh = await freshDatabase()
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-migrations-'))
  const database = openDatabase({
    url: fresh.url,
    max: 2,
    applicationName: 'upgrade-test',
    role: null,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
  })
  try {
    await database.pool.query('DROP SCHEMA counterfoil CASCADE')
    const { pending } = await readMigrationStatus(database)
    const before = pending.filter((name) => name < '0002_reconciliation')
    for (const name of before) await copyFile(join(MIGRATIONS_DIRECTORY, name), join(directory, name))
    await migrateUp(database, { directory })
    await database.pool.query(
      `INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type, state,
                                      reason, attempts, tries, uncertain_since, closed_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'crm', state, '{}', sha256('{}'), 'application/json', state, 'no_key', 1, 1,
              CASE WHEN state = 'uncertain' THEN now() END, now()
         FROM unnest(ARRAY['uncertain', 'settled']) AS state`,
    )
    await migrateUp(database)
    const law = { limit: 5, concurrency: 5, quietMs: 0, leaseMs: 1_000, gapMs: 0, maxProbes: 1, worker: 'w1' }
    expect(await askDue(database, { destination: 'crm', ...law })).toMatchObject([{ values: { key: 'uncertain' } }])
  } finally {
    await database.close()
    await fresh.drop()
    await rm(directory, { recursive: true })
  }
})
