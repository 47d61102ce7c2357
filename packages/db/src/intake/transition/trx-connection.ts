import type { ClientBase, QueryConfig, QueryResult } from 'pg'

type Callback = (error: Error | null, result?: QueryResult) => void

/** What Knex needs of a connection: it calls nothing else on one that is handed to it. */
export type TrxConnection = {
  query(config: QueryConfig, callback: Callback): void
}

const ENDS = /^\s*(BEGIN|COMMIT|END|ROLLBACK|ABORT|START\s+TRANSACTION|PREPARE\s+TRANSACTION)\b(?!\s+TO\b)/i

/**
 * Lends our transaction to Knex. Only we begin and end it: Knex reports a failed COMMIT on a promise of its own and
 * never shows its command tag, so an ack could go out for a transaction that was rolled back (I1). Once `close` was
 * called, late statements of the owner's functions fail instead of running outside of any transaction.
 */
export function lendConnection(client: ClientBase): { readonly connection: TrxConnection; readonly close: () => void } {
  let open = true
  const connection: TrxConnection = {
    query(config, callback) {
      if (!open) return callback(new Error('this transaction is over'))
      if (/^\s*BEGIN\b/i.test(config.text)) return callback(null, EMPTY)
      if (ENDS.test(config.text)) {
        return callback(new Error("a transition doesn't end the transaction that it runs in: throw to roll back"))
      }
      client.query(config).then(
        (result) => callback(null, result),
        (error: Error) => callback(error),
      )
    },
  }
  return {
    connection,
    close: () => {
      open = false
    },
  }
}

const EMPTY: QueryResult = { command: 'BEGIN', rowCount: 0, oid: 0, fields: [], rows: [] }
