import type { Route, SigningKey, SourceContract } from '@counterfoil/core'
import { MIN_SECRET_BYTES } from './defaults.js'
import { formatPath } from './format-path.js'
import type { SourceOutline } from './outline-source.js'
import type { SecretRule } from './read-secret.js'
import { type RouteSurroundings, resolveRoute } from './resolve-route.js'
import type { SecretCell, SecretStore } from './secret-store.js'
import type { SourceParts } from './source-schema.js'

export type ResolvedKey = Omit<SigningKey, 'secret'> & { readonly cell: SecretCell }

export function resolveKeys(
  path: string,
  parts: SourceParts,
  outline: SourceOutline,
  secrets: SecretStore,
): readonly ResolvedKey[] {
  const rule = { minBytes: MIN_SECRET_BYTES, inHeader: false, ...keyEncodingOf(outline) }
  return (parts.keys ?? []).map(({ id, secret, notBefore, notAfter }, index) => ({
    id,
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(notAfter === undefined ? {} : { notAfter }),
    cell: secrets.read(`${formatPath(path, ['keys', index, 'secret'])} (key "${id}")`, secret, rule),
  }))
}

/** A plain text may be written otherwise where nobody but the owner knows how its sender means it. */
function keyEncodingOf({ scheme, preset }: SourceOutline): Pick<SecretRule, 'keyEncoding'> {
  const { keyEncoding } = scheme
  return keyEncoding === null || (preset === null && keyEncoding === 'utf8') ? {} : { keyEncoding }
}

export function resolveSource(
  name: string,
  parts: SourceParts,
  { scheme, contract }: SourceOutline,
  keys: readonly ResolvedKey[],
  around: RouteSurroundings,
): SourceContract {
  const routes = new Map<string, Route>()
  for (const [type, route] of Object.entries(parts.routes)) routes.set(type, resolveRoute(route, around))
  return {
    ...contract,
    name,
    path: parts.path,
    publicUrl: parts.publicUrl ?? null,
    verify: scheme.verify,
    sign: scheme.sign,
    binds: scheme.binds,
    keys: createKeyReader(keys),
    maxAge: parts.maxAge === undefined ? null : { pointer: parts.maxAge.pointer, ms: parts.maxAge.age },
    routes,
    otherwise: parts.otherwise === undefined ? null : resolveRoute(parts.otherwise, around),
  }
}

/** Called for every push: the list is made anew only when a secret has changed. */
function createKeyReader(keys: readonly ResolvedKey[]): () => readonly SigningKey[] {
  let current: readonly SigningKey[] = []
  return () => {
    const fresh = current.length > 0 && keys.every(({ cell }, index) => cell.bytes() === current[index]?.secret)
    if (!fresh) current = keys.map(({ cell, ...key }) => ({ ...key, secret: cell.bytes() }))
    return current
  }
}
