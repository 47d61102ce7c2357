import * as presets from '@counterfoil/sources'
import { z } from 'zod'
import { defineConfig } from './definition.js'
import { route } from './route.js'
import { ed25519, hmac, hmacBody, hmacTimestamped, staticToken } from './schemes.js'
import { secret } from './secret.js'
import { conditionalUpdate, customTransition } from './transitions.js'

/** What a configuration file gets for `@counterfoil/config`. */
export const configModule = {
  defineConfig,
  route,
  hmacTimestamped,
  hmacBody,
  hmac,
  ed25519,
  staticToken,
  cloudEvents: presets.cloudEvents,
  cloudflare: presets.cloudflare,
  cloudTasks: presets.cloudTasks,
  eventBridge: presets.eventBridge,
  eventGrid: presets.eventGrid,
  github: presets.github,
  hubspot: presets.hubspot,
  intercom: presets.intercom,
  pubsub: presets.pubsub,
  qstash: presets.qstash,
  shopify: presets.shopify,
  slack: presets.slack,
  sns: presets.sns,
  standardWebhooks: presets.standardWebhooks,
  stripe: presets.stripe,
  svix: presets.svix,
  twilio: presets.twilio,
  zendesk: presets.zendesk,
  secret,
  conditionalUpdate,
  customTransition,
  z,
}
