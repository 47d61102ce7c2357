import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { z } from 'zod'
import { LOG_LEVELS } from './create-logger.js'
import { suggestName } from './nearest-name.js'
import { type ConfigProblem, error, warning } from './problem.js'
import { readSecretFile } from './read-secret-file.js'
import type { ProcessRole, ReadSettingsResult, Settings } from './settings.js'

const PREFIX = 'COUNTERFOIL_'
const MIB = 1024 * 1024

const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(least, `must be at least ${least}`).max(most, `must be at most ${most}`))

const url = (protocols: readonly string[]) =>
  z.string().refine((text) => protocols.includes(URL.canParse(text) ? new URL(text).protocol : ''), {
    error: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  })

const postgresUrl = url(['postgres:', 'postgresql:'])

/** Every setting, its variable without the prefix, and its default: the one place that knows them. */
function describeSettings(role: ProcessRole) {
  return z.object({
    DATABASE_URL: z.string({ error: 'is not set; give the URL of the PostgreSQL database' }).pipe(postgresUrl),
    OPERATOR_DATABASE_URL: postgresUrl.nullable().default(null),
    DATABASE_POOL: count(1, 500).default(10),
    CONFIG: z.string().default('./counterfoil.config.ts'),
    HOST: z.string().default('127.0.0.1'),
    PORT: count(0, 65_535).default(8080),
    HEALTH_HOST: z.string().default('127.0.0.1'),
    HEALTH_PORT: count(0, 65_535).default(role === 'worker' ? 8082 : 8081),
    REDIS_URL: url(['redis:', 'rediss:']).nullable().default(null),
    LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
    SPOOL_DIR: z.string().default('.counterfoil/spool'),
    INSTANCE: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable characters without spaces')
      .default(() => `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`),
    MAX_QUEUED_PUSHES: count(1, 1_000_000).default(5_000),
    MAX_QUEUED_BYTES: count(MIB, 64 * 1024 * MIB).default(64 * MIB),
    // Half of the smallest sensible replay window is lost long after this; below it, ordinary jitter would trip.
    CLOCK_TOLERANCE_MS: count(100, 300_000).default(2_000),
    GRACE_MS: count(100, 600_000).default(10_000),
    DRAIN_DELAY_MS: count(0, 60_000).default(0),
    POLL_MS: count(20, 1_000).default(1_000),
    OPERATOR_TOKEN: z.string().nullable().default(null),
  })
}

/** Every variable that `readSettings` reads. */
export function settingNames(): string[] {
  return Object.keys(describeSettings('cli').shape).map((name) => `${PREFIX}${name}`)
}

/**
 * Settings from `COUNTERFOIL_*` variables; each `X` may also be given as `X_FILE`, a file that holds the value. All
 * problems at once; an unknown `COUNTERFOIL_*` name is a warning. An empty variable counts as not set.
 */
export function readSettings(
  env: Readonly<Record<string, string | undefined>>,
  role: ProcessRole = 'receiver',
): ReadSettingsResult {
  const schema = describeSettings(role)
  const known = Object.keys(schema.shape)
  const { given, problems } = gatherVariables(env, known)
  const parsed = schema.safeParse(Object.fromEntries(given))
  const fileFailures = new Set(problems.filter((problem) => problem.severity === 'error').map(({ path }) => path))
  for (const issue of parsed.error?.issues ?? []) {
    const path = `${PREFIX}${String(issue.path[0])}`
    if (!fileFailures.has(path)) problems.push(error(path, issue.message))
  }
  if (!parsed.success || fileFailures.size > 0) return { kind: 'invalid', problems }
  return { kind: 'read', settings: nameSettings(parsed.data), problems }
}

function gatherVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): { given: Map<string, string>; problems: ConfigProblem[] } {
  const given = new Map<string, string>()
  const problems: ConfigProblem[] = []
  for (const name of known) {
    const variable = `${PREFIX}${name}`
    const [value, file] = [env[variable], env[`${variable}_FILE`]]
    if (value && file) problems.push(error(variable, `is set, and so is ${variable}_FILE; unset one of the two`))
    else if (value) given.set(name, value)
    else if (file) {
      const read = readSecretFile(file)
      if (read.ok) given.set(name, read.text)
      else problems.push(error(variable, `the file that ${variable}_FILE names ${read.why}`))
    }
  }
  const names = known.flatMap((name) => [`${PREFIX}${name}`, `${PREFIX}${name}_FILE`])
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || names.includes(name)) continue
    problems.push(warning(name, `is not a setting and is not read${suggestName(name, names)}`))
  }
  return { given, problems }
}

function nameSettings(values: z.output<ReturnType<typeof describeSettings>>): Settings {
  return {
    databaseUrl: values.DATABASE_URL,
    operatorDatabaseUrl: values.OPERATOR_DATABASE_URL,
    databasePool: values.DATABASE_POOL,
    configPath: values.CONFIG,
    host: values.HOST,
    port: values.PORT,
    healthHost: values.HEALTH_HOST,
    healthPort: values.HEALTH_PORT,
    redisUrl: values.REDIS_URL,
    logLevel: values.LOG_LEVEL,
    spoolDir: values.SPOOL_DIR,
    instance: values.INSTANCE,
    maxQueuedPushes: values.MAX_QUEUED_PUSHES,
    maxQueuedBytes: values.MAX_QUEUED_BYTES,
    clockToleranceMs: values.CLOCK_TOLERANCE_MS,
    graceMs: values.GRACE_MS,
    drainDelayMs: values.DRAIN_DELAY_MS,
    pollMs: values.POLL_MS,
    operatorToken: values.OPERATOR_TOKEN,
  }
}
