import { createHash, timingSafeEqual } from 'node:crypto'
import type { ResolvedConfig } from '@counterfoil/config'
import { CommandFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'

/**
 * Who acts: the configured operator whose token this is. Neither a name that somebody types nor $USER is an identity.
 * Every operator's token is compared, in constant time. Ends the command where there is no match.
 */
export function identifyOperator(config: Pick<ResolvedConfig, 'operators'>, token: string | null): string {
  const next = "set COUNTERFOIL_OPERATOR_TOKEN (or COUNTERFOIL_OPERATOR_TOKEN_FILE) to your operator's token"
  if (config.operators.size === 0) {
    throw new CommandFailure(
      EXIT.refused,
      'no operators are configured, so nobody may act',
      'add operators to the configuration',
    )
  }
  if (token === null) throw new CommandFailure(EXIT.refused, 'who acts is not known: no operator token is set', next)
  const given = digest(Buffer.from(token, 'utf8'))
  let found: string | null = null
  for (const { name, token: expected } of config.operators.values()) {
    if (timingSafeEqual(given, digest(expected))) found = name
  }
  if (found === null) throw new CommandFailure(EXIT.refused, "this operator token is nobody's", next)
  return found
}

/** Equal lengths, so that the comparison tells nothing about the token's own. */
function digest(value: Buffer): Buffer {
  return createHash('sha256').update(value).digest()
}
