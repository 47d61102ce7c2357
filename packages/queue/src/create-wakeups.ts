import type { Wakeups, WakeupsOptions } from './wakeups.js'

/** Opens nothing yet: connecting happens in the background and is repeated until it works. Never throws. */
export function createWakeups(options: WakeupsOptions): Wakeups {
  options.log.debug('wakeups.opened')
  throw new Error('not connected yet')
}
