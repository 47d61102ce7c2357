import { readFileSync } from 'node:fs'
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
import { DEMO_SCHEMAS, type DemoFiles } from './demo-files.js'
import { createServices, type DemoService } from './demo-services.js'
import { DestinationClient, QueueClient } from './peer-client.js'
import { type PeerOptions, startPeer } from './start-peer.js'

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
  const onStop = (one: () => Promise<void>) => void stops.push(one)
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
    startPeer(files, destination('crm', 'honour'), onStop),
    startPeer(files, destination('mailer', 'ignore'), onStop),
    startPeer(files, destination('carrier', 'honour'), onStop),
    migrateUp(database).then(() => applySchemas(database)),
  ])
  const variables = demoVariables(secrets, { receiver: receiverPort, crm, mailer, carrier })
  const services = createServices(files, variables, embedded.url, `127.0.0.1:${wire.port}`, receiverPort)

  let [receiver, worker] = await Promise.all([services.startReceiver(), services.startWorker()])
  stops.push(() => Promise.all([receiver.stop(), worker.stop()]).then(() => {}))
  const queueEnv = {
    PEER_PROFILES: JSON.stringify(signingProfiles(secrets, receiverPort)),
    PEER_RETRY_CAP_MS: '1000',
  }
  const queuePort = await startPeer(files, { name: 'queue', main: 'queue-main.js', env: queueEnv }, onStop)
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

function destination(name: string, keys: 'honour' | 'ignore'): PeerOptions {
  return { name, main: 'destination-main.js', env: { PEER_KEYS: keys } }
}

async function applySchemas(database: Database): Promise<void> {
  for (const file of DEMO_SCHEMAS) await database.pool.query(readFileSync(file, 'utf8'))
}
