import type { ResolvedConfig } from '@counterfoil/config'
import type { ActRefusal, ActRequest, Database } from '@counterfoil/db'
import { CommandFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'
import { identifyOperator } from './identify-operator.js'
import { findConfigPath, openConfig } from './open-service.js'
import { openSettings } from './open-settings.js'
import type { Terminal } from './terminal.js'
import { type DatabaseUse, withDatabase } from './with-database.js'

export type Act = { readonly request: ActRequest; readonly config: ResolvedConfig; readonly database: Database }

/** Runs an act as the operator whose token is set, under the database role that viewers lack. */
export async function openAct<T>(
  terminal: Terminal,
  reason: string,
  work: (act: Act) => Promise<T>,
  limits: Pick<DatabaseUse, 'statementTimeoutMs'> = {},
): Promise<T> {
  const settings = openSettings(terminal)
  const config = await openConfig(terminal, findConfigPath(terminal, settings.configPath))
  const actor = identifyOperator(config, settings.operatorToken)
  return withDatabase(terminal, { role: 'counterfoil_operator', ...limits }, (database) =>
    work({ request: { actor, reason }, config, database }),
  )
}

/** An act that changed nothing: 3, 4 or 5, with what to do instead. */
export function refuseAct(subject: string, refusal: ActRefusal): CommandFailure {
  if (refusal.kind === 'not_found') {
    return new CommandFailure(
      EXIT.notFound,
      `there is no ${subject}`,
      "look for it with 'counterfoil show' or 'counterfoil find'",
    )
  }
  const code = refusal.kind === 'conflict' ? EXIT.conflict : EXIT.refused
  return new CommandFailure(
    code,
    `nothing was changed (${refusal.state.replace('_', ' ')}): ${refusal.why}`,
    refusal.next,
  )
}
