import type { DestinationContract } from '@counterfoil/core'
import { pino } from 'pino'
import { startWorker } from '../start-worker.js'
import type { WorkerSettings } from '../worker-settings.js'

/** A worker as a process of its own, for tests that kill it: settings and destinations come as one JSON argument. */
const { settings, destinations } = JSON.parse(process.argv[2] ?? '') as {
  settings: WorkerSettings
  destinations: DestinationContract[]
}
const worker = await startWorker({
  settings,
  config: {
    sources: new Map(),
    transitions: new Map(),
    destinations: new Map(destinations.map((contract) => [contract.name, contract])),
  },
  log: pino({ level: 'info' }),
})
process.once('SIGTERM', () => {
  void worker.stop().then(() => process.exit(0))
})
