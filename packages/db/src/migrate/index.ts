export * from './migrate-up.js'
export * from './read-migration-status.js'
export { MIGRATIONS_DIRECTORY } from './read-migrations.js'
