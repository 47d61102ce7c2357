import { z } from 'zod'
import { headerName, oneOf, strict } from './schema-parts.js'
import { secretRef } from './secret-schema.js'

const text = z
  .string({ error: 'must be text' })
  .min(1, 'is empty')
  .max(1_024, 'is longer than 1024 characters')
  .regex(/^[\x20-\x7e]*$/, 'has characters outside of printable ASCII')

const shape = {
  bearer: secretRef.optional(),
  basic: strict({
    user: text.refine((user) => !user.includes(':'), { error: 'has a colon, which HTTP Basic has no way to write' }),
    password: secretRef,
  }).optional(),
  hmac: strict({
    secret: secretRef,
    header: headerName,
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]{0,32}$/, 'must be at most 32 printable characters')
      .optional(),
    encoding: oneOf(['hex', 'base64']).optional(),
    algorithm: oneOf(['sha256', 'sha512']).optional(),
    timestampHeader: headerName.optional(),
  }).optional(),
  standardWebhooks: strict({
    secrets: z
      .array(secretRef, { error: 'must be a list of secrets' })
      .min(1, 'is empty: without a secret nothing can be signed')
      .max(4, 'has more than four secrets'),
  }).optional(),
  oauth2: strict({
    tokenUrl: z.string({ error: 'must be a URL' }).refine((url) => URL.canParse(url) && /^https?:/.test(url), {
      error: 'must be an http or https URL',
    }),
    clientId: text,
    clientSecret: secretRef,
    scope: text.optional(),
    audience: text.optional(),
    sendAs: oneOf(['basic', 'form']).optional(),
  }).optional(),
}

/** How we prove who we are: exactly one way. */
export const authSchema = strict(shape).refine(
  (given) => Object.values(given).filter((value) => value !== undefined).length === 1,
  { error: `must have exactly one of ${Object.keys(shape).join(', ')}` },
)

/** PEM by reference: what we show to the destination, and whom we believe. */
export const tlsSchema = strict({
  cert: secretRef.optional(),
  key: secretRef.optional(),
  ca: secretRef.optional(),
})

export type AuthParts = z.output<typeof authSchema>
export type TlsParts = z.output<typeof tlsSchema>
