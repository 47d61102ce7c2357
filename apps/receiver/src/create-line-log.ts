import type { Logger } from 'pino'

/**
 * The log for wide lines, which are built from named fields and never from an object that came from elsewhere. It goes
 * without the redaction by field name that guards all other lines: with it one process answered 1,600 pushes a second
 * instead of 6,600 (a store that does nothing, 64 connections).
 */
export function createLineLog(log: Logger): Logger {
  return log.child({}, { redact: [] })
}
