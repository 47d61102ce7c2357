import { connect, createServer, type Socket } from 'node:net'

export type RewritingProxy = { readonly port: number; readonly close: () => Promise<void> }

/** Forwards to a port of 127.0.0.1 and changes a text in what comes back; both texts have the same length. */
export async function startRewritingProxy(target: number, from: string, to: string): Promise<RewritingProxy> {
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        client.destroy()
        upstream.destroy()
        open.delete(socket)
      })
    }
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      client.write(Buffer.from(chunk.toString('latin1').replaceAll(from, to), 'latin1'))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
