import { createHash } from 'node:crypto'
import { recordForcedPush } from '@counterfoil/db'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { openAct } from '../terminal/open-act.js'
import type { Terminal } from '../terminal/terminal.js'
import type { Signer } from './open-signer.js'
import type { SignedRequest } from './sign-request.js'

export type SigningConsent = { readonly force?: true; readonly reason?: string }

/**
 * A signed request can be sent from anywhere by whoever has it, so that printing one counts as pushing it off this
 * machine: with a configured key that is no demo key, only forced, by an operator, on record (I9). Who brings the
 * key could sign without us, so a brought one is free.
 */
export async function permitSigning(
  terminal: Terminal,
  { contract, pair, isConfiguredKey }: Signer,
  { url, body }: SignedRequest,
  deliveryId: string | null,
  { force, reason }: SigningConsent,
): Promise<void> {
  const keyId = pair.key.id
  if (!isConfiguredKey || keyId.startsWith('demo')) return
  if (force === undefined) {
    const next = 'use a key whose id starts with demo, or --force with an operator token and --reason'
    throw new CommandFailure(
      EXIT.refused,
      `refused: ${keyId} is not a demo key, and a signed request can be sent by anybody`,
      next,
    )
  }
  if (reason === undefined) throw new CommandFailure(EXIT.usage, '--force needs --reason: why this is signed by hand')
  const bodySha256 = createHash('sha256').update(body).digest('hex')
  const forced = { source: contract.name, keyId, origin: new URL(url).origin, deliveryId, bodySha256 }
  const act = await openAct(terminal, reason, ({ database, request }) => recordForcedPush(database, forced, request))
  terminal.err(`signed request on record (act ${act})\n`)
}
