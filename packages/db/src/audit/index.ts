export * from './find-deliveries.js'
export { findSubjects, type MatchedBy, type Subject, type SubjectsFound } from './find-subjects.js'
export type { DeliveryName } from './read-refusals.js'
export * from './read-timeline.js'
