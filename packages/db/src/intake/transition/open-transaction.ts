import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import { lendConnection } from './trx-connection.js'

export type OpenTransaction = {
  /** For the owner's functions: the same session and transaction as our own statements on `client`. */
  readonly trx: Knex.Transaction
  /** Throws when nothing was committed, also where the server says so only by its command tag. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** Begins a transaction in which no statement and no lock takes longer than `timeoutMs`. */
export async function openTransaction(client: ClientBase, knex: Knex, timeoutMs: number): Promise<OpenTransaction> {
  await client.query('BEGIN')
  await boundStatements(client, timeoutMs)
  const { connection, close } = lendConnection(client)
  const trx = await knex.transaction({ connection } as Knex.TransactionConfig)
  return {
    trx,
    commit: async () => {
      close()
      // A statement that failed inside, and whose error the owner's function swallowed, turns COMMIT into ROLLBACK.
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement inside it had failed')
    },
    rollback: async () => {
      close()
      await client.query('ROLLBACK')
    },
  }
}

/** A wait for a lock ends before its statement does, so that its cause is told apart. Holds until the transaction ends. */
export async function boundStatements(client: ClientBase, timeoutMs: number): Promise<void> {
  await client.query(`SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)`, [
    String(lockTimeoutMs(timeoutMs)),
    String(Math.max(2, Math.ceil(timeoutMs))),
  ])
}

export function lockTimeoutMs(statementTimeoutMs: number): number {
  return Math.max(1, Math.floor(statementTimeoutMs * 0.9))
}
