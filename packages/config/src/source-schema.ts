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

const scheme = z.discriminatedUnion(
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
  { error: 'must be made by hmacTimestamped({ … }) or hmacBody({ … })' },
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

const ack = strict({
  status: z
    .union([z.literal(200), z.literal(201), z.literal(202), z.literal(204)], { error: 'must be 200, 201, 202 or 204' })
    .optional(),
  body: aFunction<(outcome: string) => object>('outcome => ({ … })').optional(),
  deadline: duration().optional(),
  senderTimeout: duration(),
  onConflict: oneOf(['accept', 'refuse_409']).optional(),
  onMalformed: oneOf(['refuse_400', 'quarantine']).optional(),
}).refine((value) => value.body === undefined || value.status !== 204, {
  error: 'is 204, which has no body; choose 200 or leave the body out',
  path: ['status'],
})

export const sourceSchema = strict({
  path: z
    .string({ error: "must be a path such as '/push/tickets'" })
    .regex(/^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]{0,255}$/, "must be a path such as '/push/tickets', without a query"),
  publicUrl: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
      error: 'must be an http or https URL',
    })
    .optional(),
  verify: scheme,
  keys: z.array(key, { error: 'must be a list of keys' }).min(1, 'is empty: without a key nothing can be verified'),
  deliveryId: deliveryIdPlace,
  eventType: eventTypePlace.optional(),
  senderAttempt: valuePlace.optional(),
  volatile: z.array(pointer).optional(),
  maxAge: strict({ pointer, age: duration() }).optional(),
  bodyLimit: count(1, MAX_BODY_LIMIT).optional(),
  redeliveryHorizon: duration(),
  ack,
  routes: z.record(z.string().min(1, 'an event type is empty'), routeSchema, {
    error: 'must be { type: route({ … }) }',
  }),
  otherwise: routeSchema.optional(),
})

export type SourceParts = z.output<typeof sourceSchema>
