import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as core from '@counterfoil/core'
import { createJiti } from 'jiti'
import * as zod from 'zod'
import { configModule } from './config-module.js'
import { describeLoadFailure } from './describe-load-failure.js'
import { error } from './problem.js'
import { resolveConfig } from './resolve-config.js'
import type { LoadResult } from './resolved-config.js'

export type LoadOptions = {
  /** Of `counterfoil.config.ts`; relative to the working folder. */
  readonly path: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Epoch ms; default: this machine's clock. Decides only which keys are said to be active. */
  readonly now?: number
}

/**
 * Loads, checks and resolves the configuration file. Never throws for what the file holds: a missing or broken file is
 * one problem with its place and the next step. The file's own code runs, with all rights of this process.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const path = resolve(options.path)
  if (!existsSync(path)) {
    const problem = error('', `no configuration at ${path}; create it, or set COUNTERFOIL_CONFIG to where it is`)
    return { kind: 'invalid', problems: [problem] }
  }
  const loaded = await importDefinition(path)
  if (!loaded.ok) return { kind: 'invalid', problems: [error('', loaded.why)] }
  const { env, now = Date.now() } = options
  return resolveConfig(loaded.definition, { env, baseDir: dirname(path), now })
}

type Imported = { readonly ok: true; readonly definition: unknown } | { readonly ok: false; readonly why: string }

async function importDefinition(path: string): Promise<Imported> {
  // A file may live where no node_modules is near: these names always mean the copies of this process.
  const virtualModules = { '@counterfoil/config': configModule, '@counterfoil/core': core, zod }
  const jiti = createJiti(pathToFileURL(path).href, {
    fsCache: false,
    moduleCache: false,
    interopDefault: false,
    virtualModules,
  })
  try {
    const loaded = (await jiti.import(path)) as { readonly default?: unknown } | null
    const definition = loaded?.default
    if (definition === undefined) {
      return { ok: false, why: `${path} exports no default; write: export default defineConfig({ … })` }
    }
    return { ok: true, definition }
  } catch (failure) {
    return { ok: false, why: describeLoadFailure(path, failure) }
  }
}
