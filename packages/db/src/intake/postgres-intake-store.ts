import type { IntakeStoreOptions, PostgresIntakeStore } from './intake-options.js'

/** The durable intake store: arrivals share the transaction that is in flight next. */
export function createPostgresIntakeStore(_options: IntakeStoreOptions): PostgresIntakeStore {
  throw new Error('createPostgresIntakeStore is being built')
}
