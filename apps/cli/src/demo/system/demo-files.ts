import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's root, five levels up from `src/demo/system` and from `dist/demo/system` alike. */
const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url))

export type DemoFiles = {
  readonly home: string
  readonly dataDir: string
  readonly ledgers: string
  readonly logs: string
  readonly spool: string
  /** What a command in another terminal needs to find this system; readable by its owner only. */
  readonly environment: string
}

/** Where a demo keeps what it keeps. */
export function nameDemoFiles(home: string): DemoFiles {
  const absolute = resolve(home)
  return {
    home: absolute,
    dataDir: join(absolute, 'postgres'),
    ledgers: join(absolute, 'ledgers'),
    logs: join(absolute, 'logs'),
    spool: join(absolute, 'spool'),
    environment: join(absolute, 'environment'),
  }
}

export const DEMO_CONFIG = join(ROOT, 'examples', 'demo', 'counterfoil.config.ts')

/** Business tables of the examples, and what the story itself needs. Each file may be run again. */
export const DEMO_SCHEMAS = [
  join(ROOT, 'examples', 'media-reservations', 'schema.sql'),
  join(ROOT, 'examples', 'logistics-holds', 'schema.sql'),
  join(ROOT, 'examples', 'demo', 'schema.sql'),
]

export const CLI_MAIN = join(ROOT, 'apps', 'cli', 'dist', 'main.js')
export const PEER_MAINS = join(ROOT, 'apps', 'cli', 'dist', 'demo', 'peers')
export const SKEW_CLOCK = join(ROOT, 'apps', 'cli', 'dist', 'demo', 'system', 'skew-clock.js')
