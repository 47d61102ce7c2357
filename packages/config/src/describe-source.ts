import {
  DEFAULT_TOLERANCE_MS,
  type DeliveryIdAt,
  type Scheme,
  type SourceContract,
  type ValueAt,
} from '@counterfoil/core'
import { formatDuration } from './duration.js'
import type { SourceOutline } from './outline-source.js'
import type { ResolvedKey } from './resolve-source.js'
import type { GenericSourceParts, SourceParts } from './source-schema.js'

export type DescribedSource = {
  readonly name: string
  readonly parts: SourceParts
  readonly outline: SourceOutline
  readonly keys: readonly ResolvedKey[]
  readonly contract: SourceContract
}

/** One source as it is in effect; secrets as references only. */
export function describeSource({ parts, outline, keys, contract }: DescribedSource): Record<string, unknown> {
  const { ack } = contract
  return {
    path: contract.path,
    publicUrl: contract.publicUrl,
    ...(outline.preset === null ? {} : { preset: outline.preset.name }),
    verify: 'verify' in parts ? describeVerify(parts.verify, outline.scheme) : describeMade(outline.scheme),
    keys: keys.map(({ id, notBefore, notAfter, cell }) => ({
      id,
      secret: cell.describe(),
      notBefore: notBefore === undefined ? null : new Date(notBefore).toISOString(),
      notAfter: notAfter === undefined ? null : new Date(notAfter).toISOString(),
    })),
    deliveryId: describeIdPlace(contract.deliveryId),
    eventType:
      contract.eventType?.kind === 'fixed' ? { fixed: contract.eventType.value } : describePlace(contract.eventType),
    senderAttempt: describePlace(contract.senderAttempt),
    volatile: contract.volatilePointers,
    maxAge: contract.maxAge && { pointer: contract.maxAge.pointer, age: formatDuration(contract.maxAge.ms) },
    bodyLimit: contract.bodyLimitBytes,
    redeliveryHorizon: formatDuration(contract.redeliveryHorizonMs),
    ack: {
      status: ack.status,
      body: ack.body === null ? null : 'function',
      deadline: formatDuration(ack.deadlineMs),
      senderTimeout: formatDuration(ack.senderTimeoutMs),
      onConflict: ack.onConflict,
      onMalformed: ack.onMalformed,
    },
    routes: Object.fromEntries(Object.entries(parts.routes).map(([type, route]) => [type, describeRoute(route)])),
    otherwise: parts.otherwise === undefined ? 'ignored' : describeRoute(parts.otherwise),
  }
}

function describeMade(scheme: Scheme): Record<string, unknown> {
  const { family, binds, toleranceMs } = scheme
  return { family, binds, tolerance: toleranceMs === null ? null : formatDuration(toleranceMs) }
}

function describeVerify(scheme: GenericSourceParts['verify'], made: Scheme): Record<string, unknown> {
  if (!('scheme' in scheme)) return describeMade(made)
  const { scheme: name, signatureHeader, prefix = '', encoding = 'hex' } = scheme
  if (scheme.scheme === 'hmac_body') return { scheme: name, signatureHeader, prefix, encoding }
  const { timestampHeader, timestampUnit = 's', tolerance = DEFAULT_TOLERANCE_MS } = scheme
  return {
    scheme: name,
    signatureHeader,
    prefix,
    encoding,
    timestampHeader,
    timestampUnit,
    tolerance: formatDuration(tolerance),
  }
}

function describeRoute(route: SourceParts['routes'][string]): Record<string, unknown> {
  return {
    schema: route.schema !== undefined,
    transition: route.transition && {
      use: route.transition.use.name,
      guard: route.transition.guard !== undefined,
      notDue: route.transition.notDue,
    },
    actions: route.actions !== undefined,
  }
}

function describeIdPlace(at: DeliveryIdAt): unknown {
  if (at.kind === 'body_digest') return 'body-digest'
  return at.kind === 'composite' ? at.parts.map((part) => describePlace(part.at)) : describePlace(at)
}

function describePlace(at: ValueAt | null): unknown {
  switch (at?.kind) {
    case 'header':
      return { header: at.header }
    case 'pointer':
      return { pointer: at.pointer }
    case 'form':
      return { form: at.name }
    case 'first_of':
      return { firstOf: at.places.map(describePlace) }
    default:
      return null
  }
}
