import type { PoolClient } from 'pg'
import { classifyFailure, type Failure } from './classify-failure.js'
import type { Database } from './database.js'

/** `sent`: a statement left for the server, so without an answer it may have landed. */
export type ClientResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly sent: boolean; readonly error: unknown }

/**
 * Lends a connection to `work` for at most `boundMs`. A server that stopped answering (a black hole) ends with its
 * socket, so neither the caller nor the pool waits for TCP to notice. Connections that are lost, read-only or in an
 * unknown state never go back to the pool. Never throws: what failed is a result.
 */
export async function useClient<T>(
  database: Database,
  boundMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<ClientResult<T>> {
  let client: PoolClient
  try {
    client = await database.pool.connect()
  } catch (error) {
    return { kind: 'failed', failure: classifyFailure(error), sent: false, error }
  }
  // A connection that dies between two statements says so with an event; without a listener that ends the process.
  const onLost = (): void => {}
  client.on('error', onLost)
  let cutOff = false
  const timer = setTimeout(() => {
    cutOff = true
    destroySocket(client)
  }, boundMs)
  try {
    const value = await work(client)
    client.off('error', onLost)
    client.release()
    return { kind: 'done', value }
  } catch (error) {
    const failure: Failure = cutOff
      ? { kind: 'connection', cause: `no answer within ${Math.round(boundMs)} ms` }
      : classifyFailure(error)
    await giveBack(client, failure, onLost)
    return { kind: 'failed', failure, sent: true, error }
  } finally {
    clearTimeout(timer)
  }
}

/** After a failed statement the session may still be inside a transaction. ROLLBACK outside of one is only a warning. */
async function giveBack(client: PoolClient, failure: Failure, onLost: () => void): Promise<void> {
  if (failure.kind !== 'connection' && failure.kind !== 'read_only') {
    try {
      await client.query('ROLLBACK')
      client.off('error', onLost)
      client.release()
      return
    } catch {
      // The session is lost after all: it goes the other way.
    }
  }
  client.release(true)
  destroySocket(client)
}

/** `pg` ends a session politely, which a black hole never answers; its socket is not part of its typed interface. */
function destroySocket(client: PoolClient): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy?: () => void } } }
  connection?.stream?.destroy?.()
}
