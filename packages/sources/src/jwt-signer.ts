import { createHash, createPrivateKey, createSecretKey } from 'node:crypto'
import type { Sign } from '@counterfoil/core'
import { SignJWT } from 'jose'
import type { JwtOptions } from './jwt-scheme.js'

/** As the issuer would: QStash's five minutes; Google's and Entra's tokens live for about an hour. */
const LIFETIME_S = { shared: 300, published: 3600 } as const

/** For published keys `key.secret` is the private key as PEM, and `key.id` its name in the set. */
export function createJwtSigner(options: JwtOptions): Sign {
  return async (push, key, at) => {
    const claims: Record<string, unknown> = Object.create(null)
    for (const rule of options.required) {
      const [name] = rule.names
      if (name !== undefined) claims[name] = rule.values[0]
    }
    if (options.subject === 'public_url') claims.sub = push.publicUrl
    const audience = options.audience === 'public_url' ? push.publicUrl : options.audience?.[0]
    if (audience !== null && audience !== undefined) claims.aud = audience
    if (options.bodyHashClaim !== null) {
      claims[options.bodyHashClaim] = createHash('sha256').update(push.rawBody).digest('base64url')
    }
    const issuedAt = Math.floor(at / 1000)
    const times = { iat: issuedAt, nbf: issuedAt, exp: issuedAt + LIFETIME_S[options.keys.kind] }
    const jwt = new SignJWT({ ...claims, iss: options.issuers[0] ?? '', ...times }).setProtectedHeader(
      options.keys.kind === 'shared'
        ? { alg: options.keys.algorithm, typ: 'JWT' }
        : { alg: options.keys.algorithms[0] ?? 'RS256', typ: 'JWT', kid: key.id },
    )
    const signed = await jwt.sign(
      options.keys.kind === 'shared' ? createSecretKey(key.secret) : createPrivateKey(key.secret),
    )
    const { header, scheme } = options.token
    const value = scheme === null ? signed : `${scheme} ${signed}`
    return { ...push, headers: { ...push.headers, [header]: value } }
  }
}
