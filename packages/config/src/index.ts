export {
  cloudEvents,
  cloudflare,
  cloudTasks,
  eventBridge,
  eventGrid,
  github,
  hubspot,
  intercom,
  pubsub,
  qstash,
  shopify,
  slack,
  sns,
  standardWebhooks,
  stripe,
  svix,
  twilio,
  zendesk,
} from '@counterfoil/sources'
export { z } from 'zod'
export * from './check-open-use.js'
export * from './create-logger.js'
export { DEFAULTS } from './defaults.js'
export * from './definition.js'
export * from './duration.js'
export { ENDPOINT_NAMES, type EndpointName } from './endpoints.js'
export * from './load-config.js'
export * from './lookup-definition.js'
export * from './problem.js'
export { readSecret, type SecretReading } from './read-secret.js'
export * from './read-settings.js'
export * from './resolve-config.js'
export * from './resolved-config.js'
export * from './route.js'
export * from './schemes.js'
export * from './secret.js'
export * from './settings.js'
export * from './transitions.js'
