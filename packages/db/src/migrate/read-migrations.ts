import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** One forward-only step of the schema: its file name is its identity and its order. */
export type MigrationFile = { readonly name: string; readonly path: string }

/** `migrations/` of the repository: four levels up from `src/migrate` and from `dist/migrate` alike. */
export const MIGRATIONS_DIRECTORY: string = fileURLToPath(new URL('../../../../migrations/', import.meta.url))

/** The steps that this program knows, in the order in which they are applied. Throws when the directory is missing. */
export async function readMigrations(directory: string = MIGRATIONS_DIRECTORY): Promise<readonly MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort()
  return names.map((name) => ({ name, path: `${directory.replace(/\/?$/, '/')}${name}` }))
}

export function readMigrationSql(migration: MigrationFile): Promise<string> {
  return readFile(migration.path, 'utf8')
}
