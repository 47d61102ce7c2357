import { decodeKey, type SigningKey, type SourceContract } from '@counterfoil/core'
import { createPresetContract, type Preset } from '@counterfoil/sources'
import type { ContractOptions } from '../signature/contract-options.js'
import { openContract } from '../signature/open-contract.js'
import { readKeyText } from '../signature/read-key.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import type { Terminal } from '../terminal/terminal.js'

export type Verifier = {
  readonly of: { readonly source: string } | { readonly preset: string }
  readonly contract: SourceContract
  /** Why the secret is none in the sender's own form; it is then tried as the text that it is. */
  readonly secretProblem: string | null
}

export async function openVerifier(terminal: Terminal, options: ContractOptions): Promise<Verifier> {
  const named = await openContract(terminal, options)
  if (named.kind === 'source') {
    const { contract } = named
    const publicUrl = options.url ?? contract.publicUrl
    return { of: { source: contract.name }, contract: { ...contract, publicUrl }, secretProblem: null }
  }
  const { preset, publicUrl } = named
  const { keys, secretProblem } = readKeys(terminal, preset, options)
  return { of: { preset: preset.name }, contract: createPresetContract(preset, { publicUrl, keys }), secretProblem }
}

function readKeys(
  terminal: Terminal,
  { name, scheme }: Preset,
  options: ContractOptions,
): { readonly keys: readonly SigningKey[]; readonly secretProblem: string | null } {
  const given = readKeyText(terminal, options)
  if (scheme.keyEncoding === null) {
    if (given === null) return { keys: [], secretProblem: null }
    throw new CommandFailure(
      EXIT.usage,
      `${name} has no secret: its keys are fetched`,
      'leave --secret-env and --secret-file out',
    )
  }
  if (given === null) {
    throw new CommandFailure(EXIT.usage, `${name} needs its secret`, 'name it with --secret-env or --secret-file')
  }
  const decoded = decodeKey(given.text, scheme.keyEncoding)
  return decoded.kind === 'key'
    ? { keys: [{ id: given.id, secret: decoded.bytes }], secretProblem: null }
    : { keys: [{ id: given.id, secret: Buffer.from(given.text) }], secretProblem: decoded.why }
}
