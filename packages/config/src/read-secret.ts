import { isAbsolute, join } from 'node:path'
import { type DecodedKey, decodeKey, type KeyEncoding } from '@counterfoil/core'
import { suggestName } from './nearest-name.js'
import { readSecretFile } from './read-secret-file.js'
import type { SecretRef } from './secret.js'

export type SecretSurroundings = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Relative secret files are looked for here. */
  readonly baseDir: string
}

export type SecretRule = {
  /** Fewest bytes: signing keys and tokens must not be guessable, other credentials are the destination's choice. */
  readonly minBytes: number
  /** Must the value fit into a header? */
  readonly inHeader: boolean
  /** How the scheme wants its keys written; absent where the owner may say so. */
  readonly keyEncoding?: KeyEncoding
}

export type SecretReading =
  | { readonly ok: true; readonly bytes: Buffer; readonly fromFile: boolean }
  | { readonly ok: false; readonly why: string }

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The bytes behind a reference, or why there are none. The reason names variable or file, never a value. */
export function readSecret(ref: SecretRef, rule: SecretRule, around: SecretSurroundings): SecretReading {
  const found = ref.kind === 'secret_env' ? readVariable(ref.variable, around) : readFile(ref.path, around)
  if (!found.ok) return found
  const { text, what, fromFile } = found
  if (text === '') return fail(`${what} is empty`)
  if (text.trim() === '') return fail(`${what} holds only white space`)
  if (text !== text.trim()) return fail(`${what} begins or ends with white space or a newline; remove it`)
  const decoded = decodeText(text, ref, rule)
  if (decoded.kind === 'unusable') return fail(`${what} ${decoded.why}`)
  const { bytes } = decoded
  if (bytes.length < rule.minBytes) {
    return fail(`${what} has ${bytes.length} bytes; at least ${rule.minBytes} are needed, 32 random ones are good`)
  }
  if (rule.inHeader && !HEADER_VALUE.test(bytes.toString('latin1'))) {
    return fail(`${what} has characters that a header must not have`)
  }
  return { ok: true, bytes, fromFile }
}

/** `secret.env('X')` or `secret.file('…')`, as a person wrote it. */
export function formatSecretRef(ref: SecretRef): string {
  return ref.kind === 'secret_env' ? `secret.env('${ref.variable}')` : `secret.file('${ref.path}')`
}

type Found =
  | { readonly ok: true; readonly text: string; readonly what: string; readonly fromFile: boolean }
  | { readonly ok: false; readonly why: string }

function readVariable(variable: string, around: SecretSurroundings): Found {
  const value = around.env[variable]
  const file = around.env[`${variable}_FILE`]
  if (value !== undefined && file !== undefined && file !== '') {
    return fail(`${variable} and ${variable}_FILE are both set; unset one of the two`)
  }
  if (value !== undefined) return { ok: true, text: value, what: `variable ${variable}`, fromFile: false }
  if (file === undefined || file === '') {
    const near = suggestName(variable, Object.keys(around.env))
    return fail(`variable ${variable} is not set${near}; set it, or ${variable}_FILE to a file that holds it`)
  }
  return readFile(file, around, `the file that ${variable}_FILE names`)
}

function readFile(path: string, around: SecretSurroundings, what = `file ${path}`): Found {
  const read = readSecretFile(isAbsolute(path) ? path : join(around.baseDir, path))
  return read.ok ? { ok: true, text: read.text, what, fromFile: true } : fail(`${what} ${read.why}`)
}

function decodeText(text: string, ref: SecretRef, rule: SecretRule): DecodedKey {
  if (rule.keyEncoding === undefined) return decodeKey(text, ref.encoding ?? 'utf8')
  if (ref.encoding === undefined || ref.encoding === rule.keyEncoding) return decodeKey(text, rule.keyEncoding)
  const why = `is read as ${rule.keyEncoding}, as this sender means its keys; leave encoding: '${ref.encoding}' out`
  return { kind: 'unusable', why }
}

function fail(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why }
}
