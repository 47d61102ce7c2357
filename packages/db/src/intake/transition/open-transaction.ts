import type { Knex } from 'knex'
import type { ClientBase } from 'pg'

export type OpenTransaction = {
  /** For the owner's functions: the same session and transaction as our own statements on `client`. */
  readonly trx: Knex.Transaction
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** Begins a Knex transaction on a connection of our pool, in which no statement and no lock takes longer than `timeoutMs`. */
export async function openTransaction(client: ClientBase, knex: Knex, timeoutMs: number): Promise<OpenTransaction> {
  const trx = await knex.transaction({ connection: client } as Knex.TransactionConfig)
  await client.query(`SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $1, true)`, [
    String(Math.max(1, Math.ceil(timeoutMs))),
  ])
  return {
    trx,
    commit: async () => {
      await trx.commit()
    },
    rollback: async () => {
      await trx.rollback()
    },
  }
}
