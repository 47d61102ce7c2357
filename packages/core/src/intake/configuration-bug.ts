/**
 * A mistake in the configuration that only shows while a delivery is planned, such as an action for a destination that
 * nobody declared. It is our own fault: the sender is answered 503 and keeps the push, never 4xx.
 * The message may be logged, so it must name configuration only, never a value from a payload.
 */
export class ConfigurationBug extends Error {
  override readonly name = 'ConfigurationBug'
}
