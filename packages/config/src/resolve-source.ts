import {
  createHmacBody,
  createHmacTimestamped,
  PLAIN_CONTRACT,
  type Route,
  type Scheme,
  type SigningKey,
  type SourceContract,
} from '@counterfoil/core'
import { DEFAULTS, MIN_SECRET_BYTES } from './defaults.js'
import { formatPath } from './format-path.js'
import { type RouteSurroundings, resolveRoute } from './resolve-route.js'
import type { SecretCell, SecretStore } from './secret-store.js'
import type { SourceParts } from './source-schema.js'

export type ResolvedKey = Omit<SigningKey, 'secret'> & { readonly cell: SecretCell }

export function resolveKeys(path: string, parts: SourceParts, secrets: SecretStore): readonly ResolvedKey[] {
  return parts.keys.map(({ id, secret, notBefore, notAfter }, index) => ({
    id,
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(notAfter === undefined ? {} : { notAfter }),
    cell: secrets.read(`${formatPath(path, ['keys', index, 'secret'])} (key "${id}")`, secret, {
      minBytes: MIN_SECRET_BYTES,
      inHeader: false,
    }),
  }))
}

export function resolveSource(
  name: string,
  parts: SourceParts,
  keys: readonly ResolvedKey[],
  around: RouteSurroundings,
): SourceContract {
  const { ack } = parts
  const routes = new Map<string, Route>()
  for (const [type, route] of Object.entries(parts.routes)) routes.set(type, resolveRoute(route, around))
  const { verify, sign, binds } = createScheme(parts.verify)
  return {
    ...PLAIN_CONTRACT,
    name,
    path: parts.path,
    publicUrl: parts.publicUrl ?? null,
    verify,
    sign,
    binds,
    keys: createKeyReader(keys),
    deliveryId: parts.deliveryId,
    senderAttempt: parts.senderAttempt ?? null,
    eventType: parts.eventType ?? null,
    volatilePointers: parts.volatile ?? [],
    maxAge: parts.maxAge === undefined ? null : { pointer: parts.maxAge.pointer, ms: parts.maxAge.age },
    bodyLimitBytes: parts.bodyLimit ?? DEFAULTS.source.bodyLimitBytes,
    ack: {
      status: ack.status ?? (ack.body === undefined ? DEFAULTS.source.ackStatus : DEFAULTS.source.ackStatusWithBody),
      body: ack.body ?? null,
      fixedBody: null,
      senderTimeoutMs: ack.senderTimeout,
      deadlineMs: ack.deadline ?? DEFAULTS.source.ackDeadlineMs,
      onConflict: ack.onConflict ?? DEFAULTS.source.onConflict,
      onMalformed: ack.onMalformed ?? DEFAULTS.source.onMalformed,
    },
    redeliveryHorizonMs: parts.redeliveryHorizon,
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

function createScheme(scheme: SourceParts['verify']): Scheme {
  const form = {
    signatureHeader: scheme.signatureHeader,
    ...(scheme.prefix === undefined ? {} : { prefix: scheme.prefix }),
    ...(scheme.encoding === undefined ? {} : { encoding: scheme.encoding }),
  }
  if (scheme.scheme === 'hmac_body') return createHmacBody(form)
  return createHmacTimestamped({
    ...form,
    timestampHeader: scheme.timestampHeader,
    ...(scheme.timestampUnit === undefined ? {} : { timestampUnit: scheme.timestampUnit }),
    ...(scheme.tolerance === undefined ? {} : { toleranceMs: scheme.tolerance }),
  })
}
