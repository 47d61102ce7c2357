/**
 * What a failed statement says about trying again.
 * - `data`: the rows themselves are refused; the same rows will be refused again.
 * - `blocked`: somebody holds a lock that one of the rows needs.
 * - `conflict`: lost against a concurrent transaction, which the server rolled back.
 * - `read_only`: this server can't write; another connection may reach one that can.
 * - `connection`: the session is gone, and with it the knowledge whether a COMMIT landed.
 * - `other`: a bug, a missing right, a full disk.
 */
export type FailureKind = 'data' | 'blocked' | 'conflict' | 'read_only' | 'connection' | 'other'

/** `cause` is for logs: a code and a constraint, never a value of a row (I10). */
export type Failure = { readonly kind: FailureKind; readonly cause: string }

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])

const CONNECTION_TEXT =
  /connection terminated|connection timeout|timeout exceeded when trying to connect|read timeout|client was closed|not queryable/i

export function classifyFailure(error: unknown): Failure {
  const code = readText(error, 'code')
  const constraint = readText(error, 'constraint')
  // First: EPIPE looks like an SQLSTATE.
  if (code !== null && NETWORK_CODES.has(code)) return { kind: 'connection', cause: code }
  if (code !== null && /^[0-9A-Z]{5}$/.test(code)) {
    return {
      kind: judgeSqlState(code),
      cause: constraint === null ? `sqlstate ${code}` : `sqlstate ${code} (${constraint})`,
    }
  }
  const message = error instanceof Error ? error.message : ''
  if (CONNECTION_TEXT.test(message)) return { kind: 'connection', cause: 'connection lost' }
  return { kind: 'other', cause: error instanceof Error ? error.name : 'unknown error' }
}

function judgeSqlState(code: string): FailureKind {
  if (code === '40001' || code === '40P01') return 'conflict'
  if (code === '55P03' || code === '57014') return 'blocked'
  if (code === '25006') return 'read_only'
  if (code.startsWith('22') || code.startsWith('23') || code.startsWith('54')) return 'data'
  if (code.startsWith('08') || code.startsWith('57') || code === '53300' || code === '25P03') return 'connection'
  return 'other'
}

function readText(error: unknown, name: 'code' | 'constraint'): string | null {
  if (typeof error !== 'object' || error === null) return null
  const value = (error as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : null
}
