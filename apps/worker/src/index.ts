export { type RunningWorker, type StartWorkerOptions, startWorker, WorkerStartRefused } from './start-worker.js'
export type { WorkerConfig, WorkerSettings } from './worker-settings.js'
