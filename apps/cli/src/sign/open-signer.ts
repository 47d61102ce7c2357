import type { SourceContract } from '@counterfoil/core'
import { createPresetContract } from '@counterfoil/sources'
import { chooseKey } from '../push/permit-push.js'
import type { ContractOptions } from '../signature/contract-options.js'
import { openContract } from '../signature/open-contract.js'
import { readKeyText } from '../signature/read-key.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { readInput } from '../terminal/read-input.js'
import type { Terminal } from '../terminal/terminal.js'
import { readPrivateKey, type SigningPair, toSigningPair } from './read-signing-key.js'

export type SignerOptions = ContractOptions & { key?: string; privateKey?: string }

export type Signer = {
  readonly of: { readonly source: string } | { readonly preset: string }
  readonly contract: SourceContract
  readonly pair: SigningPair
  /** The key is one that a running installation may believe, and not one that the caller brought. */
  readonly isConfiguredKey: boolean
}

/** Whose signature is made, and with which key; ends the command where that is not said. */
export async function openSigner(terminal: Terminal, options: SignerOptions, at: number): Promise<Signer> {
  const named = await openContract(terminal, options)
  const brought =
    options.privateKey === undefined
      ? null
      : readPrivateKey(await readInput(terminal, options.privateKey), options.key ?? null)
  if (named.kind === 'source') return signAsSource(named.contract, options, brought, at)
  const { preset, publicUrl } = named
  const text = brought === null ? readKeyText(terminal, options) : null
  if (brought === null && text === null) {
    const next =
      preset.scheme.keyEncoding === null ? 'name it with --private-key' : 'name it with --secret-env or --secret-file'
    throw new CommandFailure(EXIT.usage, `${preset.name} needs a key to sign with`, next)
  }
  const given = text === null ? brought : toSigningPair(preset, { ...text, id: options.key ?? text.id })
  if (given === null) throw new CommandFailure(EXIT.usage, `${preset.name} needs a key to sign with`)
  const contract = createPresetContract(preset, { publicUrl, keys: given.verifyWith ?? [] })
  return { of: { preset: preset.name }, contract, pair: given, isConfiguredKey: false }
}

function signAsSource(
  contract: SourceContract,
  options: SignerOptions,
  brought: SigningPair | null,
  at: number,
): Signer {
  const of = { source: contract.name }
  // A private half is in no configuration: who brings one could sign without us.
  if (brought !== null) return { of, contract, pair: { ...brought, verifyWith: null }, isConfiguredKey: false }
  const key = chooseKey(contract.keys(), options.key ?? null, at)
  if (key === null) {
    const next = contract.keys().length === 0 ? 'its keys are fetched: name a private key with --private-key' : null
    throw new CommandFailure(EXIT.usage, `${contract.name} has no such active key`, next)
  }
  return { of, contract, pair: { key, verifyWith: null, published: null }, isConfiguredKey: true }
}
