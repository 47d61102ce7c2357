import type { Database } from './database.js'
import { judgeDatabase } from './judge-database.js'
import { readDatabaseFacts } from './read-database-facts.js'

/** Is this database fit to take responsibility on? Sentences of problems for people; empty when it is. Never throws. */
export async function checkDatabase(database: Database): Promise<readonly string[]> {
  return judgeDatabase(await readDatabaseFacts(database))
}
