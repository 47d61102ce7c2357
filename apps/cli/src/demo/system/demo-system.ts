import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Database, migrateUp, openDatabase } from '@counterfoil/db'
import { findFreePort } from '../embedded/free-port.js'
import { startEmbeddedDatabase } from '../embedded-database.js'
import { type DatabaseWire, openDatabaseWire } from './database-wire.js'
import {
  type DemoSecrets,
  demoVariables,
  readOrMakeSecrets,
  signingProfiles,
  writeEnvironment,
} from './demo-environment.js'
import { CLI_MAIN, DEMO_SCHEMAS, type DemoFiles, PEER_MAINS, SKEW_CLOCK } from './demo-files.js'
import { DestinationClient, QueueClient } from './peer-client.js'
import { type RunningChild, startChild } from './start-child.js'
import { waitUntil } from './wait-until.js'

/** A receiver or worker of the demo, and the port it can be asked on whether it is ready. */
export type DemoService = RunningChild & { readonly port: number; readonly healthPort: number }

export type DemoSystem = {
  readonly database: Database
  readonly wire: DatabaseWire
  readonly queue: QueueClient
  readonly crm: DestinationClient
  readonly mailer: DestinationClient
  readonly carrier: DestinationClient
  readonly secrets: DemoSecrets
  readonly receiverPort: number
  readonly receiver: () => DemoService
  readonly worker: () => DemoService
  /** Sentences that a person should read: busy ports, another directory. */
  readonly notices: readonly string[]
  /** Starts the receiver again on its port, after it was killed. */
  readonly restartReceiver: () => Promise<void>
  readonly restartWorker: () => Promise<void>
  /** One more process whose wall clock is off. It is ready as far as it can be: its caller judges that. */
  readonly startSkewed: (role: 'receiver' | 'worker', skewMs: number) => Promise<DemoService>
  readonly stop: () => Promise<void>
}

/** Starts everything that the demo consists of, each part a process of its own, and resolves when all are ready. */
export async function startDemoSystem(files: DemoFiles): Promise<DemoSystem> {
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    // Last started, first stopped: the queue stops pushing first, the database goes last.
    for (const one of stops.splice(0).reverse()) await one()
  }
  try {
    return await assemble(files, stops, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function assemble(
  files: DemoFiles,
  stops: (() => Promise<void>)[],
  stop: () => Promise<void>,
): Promise<DemoSystem> {
  const embedded = await startEmbeddedDatabase({ dataDir: files.dataDir })
  stops.push(embedded.stop)
  const notices = [...embedded.notices]
  const database = openDatabase({
    url: embedded.url,
    max: 8,
    applicationName: 'counterfoil-demo',
    role: null,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
  })
  stops.push(database.close)
  const wire = await openDatabaseWire(embedded.port)
  stops.push(wire.close)

  const secrets = readOrMakeSecrets(files)
  const receiverPort = await findFreePort(8080)
  if (receiverPort !== 8080) notices.push(`Port 8080 is busy: the receiver listens on ${receiverPort}.`)
  const [crm, mailer, carrier] = await Promise.all([
    startDestination(files, stops, 'crm', 'honour'),
    startDestination(files, stops, 'mailer', 'ignore'),
    startDestination(files, stops, 'carrier', 'honour'),
    migrateUp(database).then(() => applySchemas(database)),
  ])
  const variables = demoVariables(secrets, { receiver: receiverPort, crm, mailer, carrier })
  const services = createServices(files, variables, embedded.url, `127.0.0.1:${wire.port}`, receiverPort)

  let [receiver, worker] = await Promise.all([services.startReceiver(), services.startWorker()])
  stops.push(() => Promise.all([receiver.stop(), worker.stop()]).then(() => {}))
  const queuePort = await startPeer(files, stops, 'queue', 'queue-main.js', {
    PEER_PROFILES: JSON.stringify(signingProfiles(secrets, receiverPort)),
    PEER_RETRY_CAP_MS: '1000',
  })
  writeEnvironment(files, {
    ...variables,
    COUNTERFOIL_DATABASE_URL: embedded.url,
    COUNTERFOIL_OPERATOR_TOKEN: secrets.DEMO_OPERATOR_TOKEN,
    COUNTERFOIL_PORT: String(receiverPort),
  })
  return {
    database,
    wire,
    queue: new QueueClient(queuePort),
    crm: new DestinationClient(crm),
    mailer: new DestinationClient(mailer),
    carrier: new DestinationClient(carrier),
    secrets,
    receiverPort,
    notices,
    receiver: () => receiver,
    worker: () => worker,
    restartReceiver: async () => {
      receiver = await services.startReceiver()
    },
    restartWorker: async () => {
      worker = await services.startWorker()
    },
    startSkewed: services.startSkewed,
    stop,
  }
}

async function applySchemas(database: Database): Promise<void> {
  for (const file of DEMO_SCHEMAS) await database.pool.query(readFileSync(file, 'utf8'))
}

function startDestination(
  files: DemoFiles,
  stops: (() => Promise<void>)[],
  name: string,
  keys: 'honour' | 'ignore',
): Promise<number> {
  return startPeer(files, stops, name, 'destination-main.js', { PEER_KEYS: keys })
}

async function startPeer(
  files: DemoFiles,
  stops: (() => Promise<void>)[],
  name: string,
  main: string,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const peer = startChild({
    name,
    args: [join(PEER_MAINS, main)],
    env: { ...env, PEER_NAME: name, PEER_LEDGER: join(files.ledgers, `${name}.jsonl`) },
    logDir: files.logs,
    announces: true,
  })
  stops.push(() => peer.stop(2_000))
  const line = await peer.firstLine
  if (line === null) throw new Error(`The demo's ${name} did not start: see ${join(files.logs, `${name}.log`)}.`)
  return (JSON.parse(line) as { listening: number }).listening
}

function createServices(
  files: DemoFiles,
  variables: Readonly<Record<string, string>>,
  databaseUrl: string,
  wireAddress: string,
  receiverPort: number,
) {
  let started = 0
  const start = async (role: 'receiver' | 'worker', port: number, skewMs: number): Promise<DemoService> => {
    started += 1
    const healthPort = await findFreePort(0)
    const name = skewMs === 0 ? role : `${role}-${skewMs > 0 ? 'ahead' : 'behind'}`
    const child = startChild({
      name,
      args: [...(skewMs === 0 ? [] : ['--import', pathToFileURL(SKEW_CLOCK).href]), CLI_MAIN, role],
      env: {
        ...variables,
        // Only the receiver goes through the wire that the story breaks.
        COUNTERFOIL_DATABASE_URL:
          role === 'receiver' ? databaseUrl.replace(/127\.0\.0\.1:\d+/, wireAddress) : databaseUrl,
        COUNTERFOIL_PORT: String(port),
        COUNTERFOIL_HEALTH_PORT: String(healthPort),
        COUNTERFOIL_SPOOL_DIR: join(files.spool, name),
        COUNTERFOIL_INSTANCE: `demo-${name}-${process.pid}-${started}`,
        COUNTERFOIL_POLL_MS: '250',
        DEMO_CLOCK_SKEW_MS: String(skewMs),
      },
      logDir: files.logs,
      announces: false,
    })
    return { ...child, port, healthPort }
  }
  const startReady = async (role: 'receiver' | 'worker', port: number): Promise<DemoService> => {
    const service = await start(role, port, 0)
    const log = join(files.logs, `${role}.log`)
    await waitUntil(`the ${role} is ready (its log: ${log})`, async () => {
      if (!service.isRunning()) throw new Error(`The ${role} did not start: see ${log}.`)
      return isReady(service.healthPort)
    })
    return service
  }
  return {
    startReceiver: () => startReady('receiver', receiverPort),
    startWorker: () => startReady('worker', 0),
    startSkewed: async (role: 'receiver' | 'worker', skewMs: number) => {
      const service = await start(role, await findFreePort(0), skewMs)
      await waitUntil(`the skewed ${role} is alive`, () => answers(`http://127.0.0.1:${service.healthPort}/livez`))
      return service
    },
  }
}

function isReady(healthPort: number): Promise<boolean> {
  return answers(`http://127.0.0.1:${healthPort}/readyz`)
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
