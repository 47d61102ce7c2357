export * from './outbox-types.js'
