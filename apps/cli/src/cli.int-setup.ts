import { hash, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createLogger, loadConfig, readSettings } from '@counterfoil/config'
import type { AttemptOutcome, Decision } from '@counterfoil/core'
import { closeAttempts, type Database, leaseDue, openDatabase } from '@counterfoil/db'
import { startReceiver } from '@counterfoil/receiver'
import { freshDatabase, until } from '@counterfoil/testkit'
import picocolors from 'picocolors'
import { runCli } from './run-cli.js'

const CONFIG = `
import { defineConfig, hmacBody, hmacTimestamped, route, secret, z } from '@counterfoil/config'
const event = z.object({ type: z.string(), ticketId: z.string(), eventId: z.string() })
const references = ({ payload }) => ({ ticket: payload.ticketId })
const crm = (e) => ({ destination: 'crm', idempotencyKey: e.eventId + '/update', body: e })
const mailer = (e) => ({ destination: 'mailer', idempotencyKey: e.eventId + '/mail', body: e })
const routes = {
  'ticket.updated': route({ schema: event, references, actions: ({ payload }) => [crm(payload)] }),
  'ticket.solved': route({ schema: event, references, actions: ({ payload }) => [crm(payload), mailer(payload)] }),
}
const common = { eventType: { pointer: '/type' }, redeliveryHorizon: '3d', routes }
export default defineConfig({
  sources: {
    tickets: {
      ...common,
      path: '/push/tickets',
      verify: hmacTimestamped({ signatureHeader: 'X-Signature', timestampHeader: 'X-Timestamp' }),
      keys: [{ id: 'demo-1', secret: secret.env('PUSH_SECRET') }, { id: 'live-1', secret: secret.env('PUSH_SECRET') }],
      deliveryId: { header: 'X-Delivery-ID' },
      ack: { senderTimeout: '10s', deadline: '2s', onMalformed: 'quarantine' },
    },
    jobs: {
      ...common,
      path: '/push/jobs',
      verify: hmacBody({ signatureHeader: 'X-Signature', prefix: 'sha256=' }),
      keys: [{ id: 'demo-2', secret: secret.env('PUSH_SECRET') }],
      deliveryId: { pointer: '/eventId' },
      ack: { senderTimeout: '10s', deadline: '2s' },
    },
  },
  destinations: {
    crm: { url: 'http://127.0.0.1:9/crm', idempotency: { header: 'Idempotency-Key', lifetime: '24h' }, reviewWindow: '4h', allowPrivate: true },
    mailer: { url: 'http://127.0.0.1:9/mailer', idempotency: 'none', reviewWindow: '4h', allowPrivate: true },
  },
  operators: { ana: { token: secret.env('ANA_TOKEN') }, bo: { token: secret.env('BO_TOKEN'), approver: true } },
})
`

const SECRETS = {
  PUSH_SECRET: 'demo-push-secret-0123456789abcdef',
  ANA_TOKEN: 'operator-token-of-ana-0123456789',
  BO_TOKEN: 'operator-token-of-bo-0123456789',
}

export type CliRun = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** A database, a configuration, a real receiver, and the command line to use them with. */
export async function openCli() {
  const clone = await freshDatabase()
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-cli-'))
  const configPath = join(directory, 'counterfoil.config.ts')
  await writeFile(configPath, CONFIG)
  const env = {
    ...SECRETS,
    COUNTERFOIL_DATABASE_URL: clone.url,
    COUNTERFOIL_CONFIG: configPath,
    COUNTERFOIL_SPOOL_DIR: join(directory, 'spool'),
    COUNTERFOIL_OPERATOR_TOKEN: SECRETS.ANA_TOKEN,
    COUNTERFOIL_PORT: '0',
    COUNTERFOIL_HEALTH_PORT: '0',
  }
  const receiver = await startTestReceiver(env, configPath)
  const database = openDatabase({
    url: clone.url,
    max: 4,
    applicationName: 'cli-test',
    role: null,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 10_000,
  })
  const base = { ...env, COUNTERFOIL_PORT: String(receiver.port) }

  return {
    url: clone.url,
    database,
    configPath,
    port: receiver.port,
    /** Runs one command line with the operator's token set; `change` replaces variables, `undefined` takes one away. */
    run: (
      args: readonly string[],
      change: Record<string, string | undefined> = {},
      stdin = '',
      interrupted?: AbortSignal,
    ) => runCommand(args, { ...base, ...change }, stdin, interrupted),
    attempt: (destination: string, outcome: AttemptOutcome, decision: Decision, sentKey = true) =>
      attempt(database, destination, outcome, decision, sentKey),
    /** Answers are written down within 200 ms of being given. */
    waitForAnswers: () =>
      until(async () => {
        const { rows } = await database.pool.query<{ missing: number }>(
          `SELECT count(*)::int AS missing FROM counterfoil.observation o
           WHERE NOT EXISTS (SELECT FROM counterfoil.ack a WHERE a.delivery = o.delivery AND a.observation = o.id)`,
        )
        return rows[0]?.missing === 0
      }),
    async end(): Promise<void> {
      await receiver.stop()
      await database.close()
      await clone.drop()
      await rm(directory, { recursive: true })
    },
  }
}

export type Cli = Awaited<ReturnType<typeof openCli>>

export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  stdin: string | Buffer = '',
  interrupted: AbortSignal = new AbortController().signal,
): Promise<CliRun> {
  const [stdout, stderr]: [Buffer[], string[]] = [[], []]
  const code = await runCli(args, {
    out: (data) => void stdout.push(Buffer.from(data)),
    err: (text) => void stderr.push(text),
    stdin: Readable.from([Buffer.from(stdin)]),
    env,
    isTty: false,
    paint: picocolors.createColors(false),
    interrupted,
  })
  return { code, stdout: Buffer.concat(stdout).toString('utf8'), stderr: stderr.join('') }
}

async function startTestReceiver(env: Readonly<Record<string, string>>, configPath: string) {
  const read = readSettings(env)
  const loaded = await loadConfig({ path: configPath, env })
  if (read.kind === 'invalid' || loaded.kind === 'invalid') throw new Error(JSON.stringify([read, loaded]))
  const log = createLogger({ level: 'silent', service: 'receiver' })
  return startReceiver({ settings: read.settings, config: loaded.config, log })
}

/** One attempt of the newest entry that waits for a destination, from its lease to its end. */
async function attempt(
  database: Database,
  destination: string,
  outcome: AttemptOutcome,
  decision: Decision,
  sentKey: boolean,
): Promise<void> {
  await database.pool.query(
    `UPDATE counterfoil.due SET due_at = clock_timestamp() - interval '1 day' WHERE entry = (
       SELECT e.id FROM counterfoil.entry e JOIN counterfoil.due d ON d.entry = e.id
       WHERE e.destination = $1 ORDER BY e.created_at DESC LIMIT 1)`,
    [destination],
  )
  const request = { destination, limit: 1, leaseMs: 60_000, sendMarginMs: 5_000, worker: 'worker-1', dueFrom: null }
  const [leased] = await leaseDue(database, { ...request, token: randomUUID() })
  if (leased === undefined) throw new Error(`nothing is due for ${destination}`)
  const keySent = sentKey ? leased.idempotencyKey : null
  const facts = { durationMs: 10_000, detail: null, keySent, digestSent: hash('sha256', leased.body, 'buffer') }
  await closeAttempts(database, [{ leased, worker: 'worker-1', outcome, decision, ...facts }])
}

export const TIMED_OUT: AttemptOutcome = {
  kind: 'uncertain',
  phase: 'waiting_for_answer',
  cause: 'UND_ERR_HEADERS_TIMEOUT',
  status: null,
  notBefore: null,
}
export const REFUSED: AttemptOutcome = { kind: 'rejected', status: 422, reason: 'refused' }
export const RETRY: Decision = { kind: 'retry', dueInMs: 5_000, because: 'uncertain_with_key', spendsBudget: true }
export const HOLD: Decision = { kind: 'hold', as: 'uncertain', because: 'no_key' }
export const DEAD_LETTER: Decision = { kind: 'dead_letter', because: 'rejected' }
export const REPEATED: AttemptOutcome = { kind: 'accepted', status: 200, repeat: true }
export const FINISH_REPEAT: Decision = { kind: 'finish', as: 'delivered', repeat: true }
export const ACCEPTED: AttemptOutcome = { kind: 'accepted', status: 202, repeat: false }
export const FINISH: Decision = { kind: 'finish', as: 'delivered', repeat: false }
