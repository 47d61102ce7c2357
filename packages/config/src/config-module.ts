import { z } from 'zod'
import { defineConfig } from './definition.js'
import { route } from './route.js'
import { hmacBody, hmacTimestamped } from './schemes.js'
import { secret } from './secret.js'
import { conditionalUpdate, customTransition } from './transitions.js'

/** What a configuration file gets for `@counterfoil/config`. */
export const configModule = {
  defineConfig,
  route,
  hmacTimestamped,
  hmacBody,
  secret,
  conditionalUpdate,
  customTransition,
  z,
}
