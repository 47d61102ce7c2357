import { createHmacBody, createHmacTimestamped, PLAIN_CONTRACT, type Scheme } from '@counterfoil/core'
import type { Preset, PresetContract } from '@counterfoil/sources'
import { DEFAULTS } from './defaults.js'
import type { GenericSourceParts, PresetSourceParts, SourceParts } from './source-schema.js'

/** A source as it will be, whichever way it was written. */
export type SourceOutline = {
  readonly scheme: Scheme
  readonly preset: Preset | null
  readonly contract: PresetContract
}

export function outlineSource(parts: SourceParts): SourceOutline {
  return 'preset' in parts ? outlinePreset(parts) : outlineGeneric(parts)
}

function outlineGeneric(parts: GenericSourceParts): SourceOutline {
  const { ack } = parts
  return {
    scheme: createScheme(parts.verify),
    preset: null,
    contract: {
      ...PLAIN_CONTRACT,
      deliveryId: parts.deliveryId,
      senderAttempt: parts.senderAttempt ?? null,
      eventType: parts.eventType ?? null,
      volatilePointers: parts.volatile ?? [],
      bodyLimitBytes: parts.bodyLimit ?? DEFAULTS.source.bodyLimitBytes,
      redeliveryHorizonMs: parts.redeliveryHorizon,
      ack: {
        status: ack.status ?? (ack.body === undefined ? DEFAULTS.source.ackStatus : DEFAULTS.source.ackStatusWithBody),
        body: ack.body ?? null,
        fixedBody: null,
        senderTimeoutMs: ack.senderTimeout,
        deadlineMs: ack.deadline ?? DEFAULTS.source.ackDeadlineMs,
        onConflict: ack.onConflict ?? DEFAULTS.source.onConflict,
        onMalformed: ack.onMalformed ?? DEFAULTS.source.onMalformed,
      },
    },
  }
}

/** The owner's words over the preset's; whether they are wise is judged by `checkSource`. */
function outlinePreset(parts: PresetSourceParts): SourceOutline {
  const { preset, ack = {} } = parts
  const { contract } = preset
  const usual = contract.ack
  const statusWithBody = usual.status === 204 ? DEFAULTS.source.ackStatusWithBody : usual.status
  return {
    scheme: preset.scheme,
    preset,
    contract: {
      ...contract,
      eventType: parts.eventType ?? contract.eventType,
      volatilePointers: [...contract.volatilePointers, ...(parts.volatile ?? [])],
      bodyLimitBytes: parts.bodyLimit ?? contract.bodyLimitBytes,
      redeliveryHorizonMs: parts.redeliveryHorizon ?? contract.redeliveryHorizonMs,
      ack: {
        ...usual,
        status: ack.status ?? (ack.body === undefined ? usual.status : statusWithBody),
        body: ack.body ?? usual.body,
        deadlineMs: ack.deadline ?? usual.deadlineMs,
        onConflict: ack.onConflict ?? usual.onConflict,
        onMalformed: ack.onMalformed ?? usual.onMalformed,
      },
    },
  }
}

function createScheme(scheme: GenericSourceParts['verify']): Scheme {
  if (!('scheme' in scheme)) return scheme
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
