import knexFactory from 'knex'
import type { ClientBase } from 'pg'
import { boundStatements, type OpenTransaction } from './open-transaction.js'
import { lendConnection } from './trx-connection.js'

/** Like `openTransaction`, inside the caller's: what runs here is undone without ending the transaction around it. */
export async function openSavepoint(client: ClientBase, timeoutMs: number): Promise<OpenTransaction> {
  await client.query('SAVEPOINT counterfoil_step')
  await boundStatements(client, timeoutMs)
  const { connection, close } = lendConnection(client)
  const trx = await knexFactory({ client: 'pg' }).transaction({ connection } as never)
  return {
    trx,
    commit: async () => {
      close()
      await client.query('RELEASE SAVEPOINT counterfoil_step')
    },
    rollback: async () => {
      close()
      await client.query('ROLLBACK TO SAVEPOINT counterfoil_step')
    },
  }
}
