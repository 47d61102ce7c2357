import { createServer } from 'node:net'

/** The preferred port of 127.0.0.1 when nobody listens there, else a free one. 0 takes any. */
export async function findFreePort(preferred: number): Promise<number> {
  const first = await tryPort(preferred)
  return first ?? (await findFreePort(0))
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.unref()
    server.once('error', () => resolve(null))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const taken = typeof address === 'object' && address !== null ? address.port : null
      server.close(() => resolve(taken))
    })
  })
}
