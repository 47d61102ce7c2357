import type { SigningKey, SourceContract } from '@counterfoil/core'
import type { Preset } from './preset.js'

/** What a preset makes of a push by itself, without a configuration: no route wants anything. */
export function createPresetContract(
  preset: Preset,
  { publicUrl, keys }: { readonly publicUrl: string | null; readonly keys: readonly SigningKey[] },
): SourceContract {
  return {
    ...preset.contract,
    name: preset.name,
    path: publicUrl === null ? '/' : new URL(publicUrl).pathname,
    publicUrl,
    verify: preset.scheme.verify,
    sign: preset.scheme.sign,
    binds: preset.scheme.binds,
    keys: () => keys,
    maxAge: null,
    routes: new Map(),
    otherwise: null,
  }
}
