import { checkOpenSources, formatProblem } from '@counterfoil/config'
import { type Database, findOpenDestinations, findOpenSources, judgeDatabase, readDatabaseFacts } from '@counterfoil/db'
import type { WorkerConfig } from './worker-settings.js'
import { WorkerStartRefused } from './worker-start-refused.js'

/** Throws `WorkerStartRefused` where the database is unfit, or holds work that this configuration would leave undone. */
export async function refuseUnfit(
  database: Database,
  config: Pick<WorkerConfig, 'destinations' | 'sources'>,
): Promise<void> {
  const facts = await readDatabaseFacts(database)
  const problems = judgeDatabase(facts)
  if (problems.length > 0) throw new WorkerStartRefused(problems, facts.kind === 'unreachable' ? 7 : 2)
  const missing = (await findOpenDestinations(database)).filter((name) => !config.destinations.has(name))
  const unused = checkOpenSources(config.sources, await findOpenSources(database))
  const left = [...missing.map(describeMissing), ...unused.map(formatProblem)]
  if (left.length > 0) throw new WorkerStartRefused(left, 2)
}

function describeMissing(name: string): string {
  return `The configuration has no destination "${name}", but entries for it are still to be sent. Put it back until they are done.`
}
