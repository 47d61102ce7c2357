import { classifyFailure } from '@counterfoil/db'

const FRAMES = 6

/**
 * An error for a log line: what kind it is and where it came from, never its message. The message of a database error
 * can quote a row, and that of an owner's function the payload (I10).
 */
export function describeError(error: unknown): { readonly error: string; readonly at: readonly string[] } {
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : []
  return {
    error: readSystemCode(error) ?? classifyFailure(error).cause,
    at: frames.slice(0, FRAMES).map((line) => line.trim()),
  }
}

/** `ENOSPC` and the like, of which the class of a failure knows nothing. */
function readSystemCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && /^E[A-Z][A-Z0-9_]*$/.test(code) ? code : null
}
