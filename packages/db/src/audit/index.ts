export * from './find-deliveries.js'
export * from './find-subjects.js'
export type { DeliveryName } from './read-refusals.js'
export * from './read-timeline.js'
