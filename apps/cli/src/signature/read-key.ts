import { basename } from 'node:path'
import { readSecret } from '@counterfoil/config'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import type { Terminal } from '../terminal/terminal.js'
import type { ContractOptions } from './contract-options.js'

export type KeyText = { readonly id: string; readonly text: string }

/** The text of the secret that the options name, as it stands there; `null` where they name none. */
export function readKeyText(
  terminal: Terminal,
  { secretEnv, secretFile }: Pick<ContractOptions, 'secretEnv' | 'secretFile'>,
): KeyText | null {
  if (secretEnv !== undefined && secretFile !== undefined) {
    throw new CommandFailure(EXIT.usage, '--secret-env and --secret-file are both given: one secret is enough')
  }
  if (secretEnv === undefined && secretFile === undefined) return null
  const ref =
    secretEnv === undefined
      ? ({ kind: 'secret_file', path: secretFile ?? '' } as const)
      : ({ kind: 'secret_env', variable: secretEnv } as const)
  // Senders have test secrets of any length; whether one is fit for production is said by `config check`.
  const read = readSecret(ref, { minBytes: 1, inHeader: false }, { env: terminal.env, baseDir: process.cwd() })
  if (!read.ok) throw new CommandFailure(EXIT.usage, read.why)
  return { id: secretEnv ?? basename(secretFile ?? ''), text: read.bytes.toString('utf8') }
}
