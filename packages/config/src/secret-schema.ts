import { z } from 'zod'
import { oneOf, strict } from './schema-parts.js'
import type { SecretRef } from './secret.js'

const options = { prefix: z.string().optional(), encoding: oneOf(['utf8', 'base64', 'hex']).optional() }

const parts = z.discriminatedUnion(
  'kind',
  [
    strict({
      kind: z.literal('secret_env'),
      variable: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of an environment variable'),
      ...options,
    }),
    strict({ kind: z.literal('secret_file'), path: z.string().min(1, 'is empty'), ...options }),
  ],
  { error: "must be secret.env('NAME') or secret.file('path'); a secret itself never stands in the configuration" },
)

export const secretRef: z.ZodType<SecretRef> = parts as unknown as z.ZodType<SecretRef>
