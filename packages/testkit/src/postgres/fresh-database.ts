import { cloneDatabase, type TestDatabase } from './test-databases.js'

/** Where the test run's global setup leaves the superuser's connection string for the test processes. */
export const SERVER_URL_VARIABLE = 'TESTKIT_POSTGRES_URL'

/**
 * A migrated, empty database for one test or one test file, cloned from the template on the run's shared server.
 *
 * Safe in parallel files. The shared server runs with `fsync = off` and everything else at its default
 * (`synchronous_commit` on): a killed server loses nothing by that, only a machine that loses power does. A test about
 * durability starts a server of its own with `startPostgres()`.
 */
export function freshDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env[SERVER_URL_VARIABLE]
  if (serverUrl === undefined) {
    throw new Error(
      `${SERVER_URL_VARIABLE} is not set: only integration (*.int.test.ts) and end-to-end tests have a database`,
    )
  }
  return cloneDatabase(serverUrl)
}
