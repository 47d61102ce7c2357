import { migrateUp, openDatabase } from '@counterfoil/db'

/** Brings the database of this connection string to the program's schema. */
export async function migrateDatabase(url: string): Promise<void> {
  const database = openDatabase({
    url,
    max: 2,
    applicationName: 'testkit',
    role: null,
    statementTimeoutMs: 0,
    connectTimeoutMs: 10_000,
  })
  try {
    await migrateUp(database)
  } finally {
    await database.close()
  }
}
