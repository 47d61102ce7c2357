// The three examples together, as the demo runs them. Only times differ from what they say themselves: nobody wants to
// watch a five-second backoff or a one-minute sweep.
import { defineConfig, secret } from '@counterfoil/config'
import { logisticsHolds } from '../logistics-holds/counterfoil.config.js'
import { mediaReservations } from '../media-reservations/counterfoil.config.js'
import { supportNotifications } from '../support-notifications/counterfoil.config.js'

const impatient = {
  retry: { first: '500ms', cap: '2s' },
  timeouts: { total: '1.5s' },
  lease: '7s',
} as const

const holds = logisticsHolds({ every: '1s', grace: '1.5s' })
const destinations = { ...supportNotifications.destinations, ...holds.destinations }

export default defineConfig({
  sources: { ...supportNotifications.sources, ...mediaReservations.sources, ...holds.sources },
  destinations: Object.fromEntries(
    Object.entries(destinations).map(([name, destination]) => [name, { ...destination, ...impatient }]),
  ),
  operators: { 'demo-operator': { token: secret.env('DEMO_OPERATOR_TOKEN') } },
})
