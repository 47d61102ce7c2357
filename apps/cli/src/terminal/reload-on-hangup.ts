import type { Service } from './open-service.js'
import type { Terminal } from './terminal.js'

/**
 * SIGHUP reads every secret file again, so that keys rotate without a restart. A file that can't be used is told and
 * changes nothing. At a terminal a hang-up means what it always did: the person has gone, and the server stops.
 *
 * @returns the signal that is taken; `null` at a terminal
 */
export function reloadOnHangup(terminal: Terminal, { config, log }: Pick<Service, 'config' | 'log'>): 'SIGHUP' | null {
  if (terminal.isTty) return null
  process.on('SIGHUP', () => {
    const problems = config.reloadSecrets()
    for (const { path, message } of problems) log.error({ path, problem: message }, 'secrets.kept')
    log.info({ kept: problems.length }, 'secrets.reloaded')
  })
  return 'SIGHUP'
}
