import pino, { type DestinationStream, type Logger } from 'pino'

export type { Logger } from 'pino'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * Names under which a secret, a signature or a payload would travel. Our own lines are made of allowed fields; this
 * catches what an error object of a library drags along (I10). Two levels deep, where such objects keep requests.
 */
const SENSITIVE = [
  'secret',
  'secrets',
  'token',
  'password',
  'authorization',
  'cookie',
  'signature',
  'body',
  'rawBody',
  'payload',
  'headers',
  'connectionString',
  'parameters',
]

/** JSON lines: level as text, ISO time, the service's name. `destination` defaults to stdout. */
export function createLogger(options: {
  readonly level: LogLevel
  readonly service: string
  readonly destination?: DestinationStream
}): Logger {
  return pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SENSITIVE.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      serializers: { err: pino.stdSerializers.err },
    },
    options.destination ?? pino.destination({ fd: 1, sync: false }),
  )
}
