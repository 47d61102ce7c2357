import { z } from 'zod'
import { authSchema, tlsSchema } from './auth-schema.js'
import { ENDPOINT_NAMES } from './endpoints.js'
import { idempotencySchema } from './key-schema.js'
import { lookupSchema } from './lookup-schema.js'
import { matcherSchema } from './matcher-schema.js'
import { count, duration, headerName, oneOf, strict } from './schema-parts.js'
import { secretRef } from './secret-schema.js'

const headerValue = z.union([
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has characters that a header must not have'),
  secretRef,
])

export const destinationSchema = strict({
  url: z
    .string({ error: 'must be a URL' })
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
      error: 'must be an http or https URL',
    }),
  method: oneOf(['POST', 'PUT', 'PATCH']).optional(),
  endpoint: oneOf(ENDPOINT_NAMES).optional(),
  headers: z.record(headerName, headerValue).optional(),
  auth: authSchema.optional(),
  tls: tlsSchema.optional(),
  idempotency: idempotencySchema,
  timeouts: strict({
    connect: duration().optional(),
    headers: duration().optional(),
    body: duration().optional(),
    total: duration().optional(),
  }).optional(),
  lease: duration().optional(),
  concurrency: count(1, 1_024).optional(),
  responseCap: count(0, 16 * 1024 * 1024).optional(),
  allowPrivate: z.boolean({ error: 'must be true or false' }).optional(),
  retry: strict({
    first: duration().optional(),
    cap: duration().optional(),
    maxAttempts: count(1, 1_000).optional(),
    maxAge: duration().optional(),
    maxRetryAfter: duration(0).optional(),
  }).optional(),
  matchers: z.array(matcherSchema, { error: 'must be a list of matchers' }).optional(),
  lookup: lookupSchema.optional(),
  reviewWindow: duration(0).optional(),
  replayMarkers: z.array(strict({ header: headerName, value: z.string().optional() })).optional(),
})

export type DestinationParts = z.output<typeof destinationSchema>
