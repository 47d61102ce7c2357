export type { FaultPoint, FaultPoints } from './fault-points.js'
export { type RunningWorker, type StartWorkerOptions, startWorker } from './start-worker.js'
export type { WorkerConfig, WorkerSettings } from './worker-settings.js'
export { WorkerStartRefused } from './worker-start-refused.js'
