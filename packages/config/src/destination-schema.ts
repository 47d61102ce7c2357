import { z } from 'zod'
import { lookupSchema } from './lookup-schema.js'
import { count, duration, headerName, oneOf, strict } from './schema-parts.js'
import { secretRef } from './secret-schema.js'

const headerValue = z.union([
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has characters that a header must not have'),
  secretRef,
])

const idempotency = z.union(
  [
    z.literal('none'),
    strict({
      header: headerName,
      quoted: z.boolean().optional(),
      lifetime: duration(),
      margin: duration(0).optional(),
    }),
  ],
  {
    error: (issue) =>
      issue.code === 'invalid_union' && issue.errors?.[1]?.[0] !== undefined && typeof issue.input === 'object'
        ? issue.errors[1].map((inner) => `${inner.path.join('.')} ${inner.message}`.trim()).join('; ')
        : "must be 'none' or { header, lifetime }: it decides whether a doubtful send may be repeated",
  },
)

export const destinationSchema = strict({
  url: z
    .string({ error: 'must be a URL' })
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
      error: 'must be an http or https URL',
    }),
  method: oneOf(['POST', 'PUT', 'PATCH']).optional(),
  headers: z.record(headerName, headerValue).optional(),
  idempotency,
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
  lookup: lookupSchema.optional(),
  reviewWindow: duration(0).optional(),
  replayMarkers: z.array(strict({ header: headerName, value: z.string().optional() })).optional(),
})

export type DestinationParts = z.output<typeof destinationSchema>
