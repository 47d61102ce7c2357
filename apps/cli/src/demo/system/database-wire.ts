import { connect, createServer, type Server, type Socket } from 'node:net'

/** What the wire between the receiver and its database does. */
export type WireMode =
  | 'pass'
  /** Refuses new connections and cuts the old ones. */
  | 'refuse'
  /** Takes everything and forwards nothing. */
  | 'hang'
  /** Forwards the next COMMIT, then cuts the connection instead of bringing its reply back. */
  | 'lose_commit'
  /** Holds the reply to the next COMMIT for good. `commitHeld` tells when. */
  | 'hold_commit'

export type DatabaseWire = {
  readonly port: number
  readonly setMode: (mode: WireMode) => void
  /** Resolves when a COMMIT took effect in the database and its reply was kept from the receiver. */
  readonly commitHeld: () => Promise<void>
  readonly close: () => Promise<void>
}

/** CommandComplete of the wire protocol: `C`, length, tag, NUL. A rolled-back transaction answers ROLLBACK instead. */
const COMMITTED = Buffer.from('COMMIT\0')

/** A real TCP connection that can go wrong, so that the story's store faults need no mock. */
export async function openDatabaseWire(databasePort: number): Promise<DatabaseWire> {
  let mode: WireMode = 'pass'
  let held: () => void = () => {}
  let commitHeld = Promise.resolve()
  const sockets = new Set<Socket>()

  const cut = (...both: Socket[]) => {
    for (const socket of both) socket.destroy()
  }
  const server: Server = createServer((client) => {
    if (mode === 'refuse') return void client.resetAndDestroy()
    const database = connect(databasePort, '127.0.0.1')
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        cut(client, database)
      })
    }
    let isHeld = false
    client.on('data', (chunk) => {
      if (mode !== 'hang' && !isHeld) database.write(chunk)
    })
    database.on('data', (chunk) => {
      if (mode === 'hang' || isHeld) return
      const committed = (mode === 'lose_commit' || mode === 'hold_commit') && chunk.includes(COMMITTED)
      if (!committed) return void client.write(chunk)
      const lost = mode === 'lose_commit'
      mode = 'pass'
      held()
      if (lost) cut(client, database)
      else isHeld = true
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    setMode: (next) => {
      // What was swallowed can't be made up for: connections that hung are cut when the fault ends.
      if (mode === 'hang' || next === 'refuse') cut(...sockets)
      mode = next
      commitHeld = new Promise((resolve) => {
        held = resolve
      })
    },
    commitHeld: () => commitHeld,
    close: async () => {
      cut(...sockets)
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
