import type { Scheme } from '@counterfoil/core'
import type { Preset } from '@counterfoil/sources'
import { z } from 'zod'
import { routeSchema } from './route-schema.js'
import {
  aFunction,
  count,
  deliveryIdPlace,
  duration,
  eventTypePlace,
  headerName,
  instant,
  oneOf,
  pointer,
  strict,
  valuePlace,
} from './schema-parts.js'
import { secretRef } from './secret-schema.js'

const MAX_BODY_LIMIT = 16 * 1024 * 1024

const hmacBody = {
  signatureHeader: headerName,
  prefix: z.string().max(32, 'is longer than 32 characters').optional(),
  encoding: oneOf(['hex', 'base64']).optional(),
}

const plainScheme = z.discriminatedUnion(
  'scheme',
  [
    strict({
      scheme: z.literal('hmac_timestamped'),
      ...hmacBody,
      timestampHeader: headerName,
      timestampUnit: oneOf(['s', 'ms']).optional(),
      tolerance: duration(1_000).optional(),
    }),
    strict({ scheme: z.literal('hmac_body'), ...hmacBody }),
  ],
  {
    error: 'must be made by hmacTimestamped({ … }), hmacBody({ … }), hmac({ … }), ed25519({ … }) or staticToken({ … })',
  },
)

const isScheme = (value: unknown): boolean => typeof (value as { verify?: unknown } | null)?.verify === 'function'

/** A made scheme as it is; else a description of one, so that its mistakes are told at their places. */
const scheme = z.union([z.custom<Scheme>(isScheme), plainScheme], {
  error: (issue) => (isScheme(issue.input) ? undefined : plainScheme.safeParse(issue.input).error?.issues[0]?.message),
})

const preset = z.custom<Preset>(
  (value) => {
    const made = value as Partial<Preset> | null
    return typeof made === 'object' && isScheme(made?.scheme) && typeof made?.contract === 'object'
  },
  {
    error: ({ input }) =>
      typeof input === 'function' ? 'must be called, such as github()' : 'must be made by a preset, such as github()',
  },
)

const key = strict({
  id: z
    .string({ error: 'must be a name' })
    .regex(/^[\x21-\x7e]{1,64}$/, 'must be 1 to 64 printable characters without spaces'),
  secret: secretRef,
  notBefore: instant.optional(),
  notAfter: instant.optional(),
}).refine((value) => !(Number(value.notBefore) >= Number(value.notAfter)), {
  error: 'ends before it begins: notAfter must be later than notBefore',
  path: ['notAfter'],
})

const ackShape = {
  status: z
    .union([z.literal(200), z.literal(201), z.literal(202), z.literal(204)], { error: 'must be 200, 201, 202 or 204' })
    .optional(),
  body: aFunction<(outcome: string) => object>('outcome => ({ … })').optional(),
  deadline: duration().optional(),
  onConflict: oneOf(['accept', 'refuse_409']).optional(),
  onMalformed: oneOf(['refuse_400', 'quarantine']).optional(),
}

const hasRoomForBody = (value: { readonly body?: unknown; readonly status?: number | undefined }) =>
  value.body === undefined || value.status !== 204
const NO_ROOM = { error: 'is 204, which has no body; choose 200 or leave the body out', path: ['status'] }

const ack = strict({ ...ackShape, senderTimeout: duration() }).refine(hasRoomForBody, NO_ROOM)
const presetAck = strict(ackShape).refine(hasRoomForBody, NO_ROOM)

const shared = {
  path: z
    .string({ error: "must be a path such as '/push/tickets'" })
    .regex(/^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]{0,255}$/, "must be a path such as '/push/tickets', without a query"),
  publicUrl: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
      error: 'must be an http or https URL',
    })
    .optional(),
  eventType: eventTypePlace.optional(),
  volatile: z.array(pointer).optional(),
  maxAge: strict({ pointer, age: duration() }).optional(),
  bodyLimit: count(1, MAX_BODY_LIMIT).optional(),
  routes: z.record(z.string().min(1, 'an event type is empty'), routeSchema, {
    error: 'must be { type: route({ … }) }',
  }),
  otherwise: routeSchema.optional(),
}

export const sourceSchema = strict({
  ...shared,
  verify: scheme,
  keys: z.array(key, { error: 'must be a list of keys' }),
  deliveryId: deliveryIdPlace,
  senderAttempt: valuePlace.optional(),
  redeliveryHorizon: duration(),
  ack,
})

export const presetSourceSchema = strict({
  ...shared,
  preset,
  keys: z.array(key, { error: 'must be a list of keys' }).optional(),
  redeliveryHorizon: duration().optional(),
  ack: presetAck.optional(),
})

export type GenericSourceParts = z.output<typeof sourceSchema>
export type PresetSourceParts = z.output<typeof presetSourceSchema>
export type SourceParts = GenericSourceParts | PresetSourceParts

/** Which of the two a person meant. */
export function chooseSourceSchema(given: unknown): z.ZodType<SourceParts> {
  const hasPreset = typeof given === 'object' && given !== null && Object.hasOwn(given, 'preset')
  return (hasPreset ? presetSourceSchema : sourceSchema) as unknown as z.ZodType<SourceParts>
}
