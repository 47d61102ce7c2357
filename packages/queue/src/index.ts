export { createWakeups } from './create-wakeups.js'
export type { ScheduledJob, Wakeups, WakeupsOptions } from './wakeups.js'
