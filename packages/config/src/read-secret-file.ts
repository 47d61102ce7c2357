import { readFileSync } from 'node:fs'

/** Text of a secret's file without one trailing newline, or why it can't be read (no path: callers say which). */
export function readSecretFile(path: string): { readonly ok: true; readonly text: string } | SecretFileFailure {
  try {
    return { ok: true, text: readFileSync(path, 'utf8').replace(/\r?\n$/, '') }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    const why: Readonly<Record<string, string>> = {
      ENOENT: 'does not exist',
      EACCES: 'may not be read by this user',
      EISDIR: 'is a folder',
    }
    return { ok: false, why: Object.hasOwn(why, code) ? (why[code] ?? code) : `can't be read (${code})` }
  }
}

export type SecretFileFailure = { readonly ok: false; readonly why: string }
