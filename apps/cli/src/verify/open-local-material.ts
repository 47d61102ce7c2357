import { type JsonWebKey, X509Certificate } from 'node:crypto'
import { createLogger } from '@counterfoil/config'
import type { KeyMaterial } from '@counterfoil/core'
import { openKeyMaterial } from '@counterfoil/receiver'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { readInput } from '../terminal/read-input.js'
import type { Terminal } from '../terminal/terminal.js'

export type MaterialOptions = { jwks?: string; certificate?: string }

/** Keys from files where they are given, else fetched as the receiver does: bounded, over HTTPS, without redirects. */
export async function openLocalMaterial(terminal: Terminal, options: MaterialOptions): Promise<KeyMaterial> {
  const fetched = openKeyMaterial({ log: createLogger({ level: 'silent', service: 'receiver' }) })
  const keys = options.jwks === undefined ? null : parseKeySet(await readInput(terminal, options.jwks))
  const pem =
    options.certificate === undefined ? null : checkCertificate(await readInput(terminal, options.certificate))
  // One object for good: a verifier keeps what it has made of a reading.
  const [keySet, certificate] = [
    keys === null ? null : ({ kind: 'found', keys } as const),
    pem === null ? null : ({ kind: 'found', pem } as const),
  ]
  return {
    keySet: keySet === null ? fetched.keySet : () => keySet,
    certificate: certificate === null ? fetched.certificate : () => certificate,
  }
}

function parseKeySet(bytes: Buffer): readonly JsonWebKey[] {
  try {
    const document: unknown = JSON.parse(bytes.toString('utf8'))
    const keys = typeof document === 'object' && document !== null && 'keys' in document ? document.keys : null
    if (Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)) return keys as JsonWebKey[]
  } catch {
    // Said below.
  }
  throw new CommandFailure(EXIT.usage, '--jwks is no key set', 'it is JSON such as {"keys":[…]}')
}

function checkCertificate(bytes: Buffer): string {
  try {
    return new X509Certificate(bytes).toString()
  } catch {
    throw new CommandFailure(EXIT.usage, '--certificate is no certificate in PEM')
  }
}
