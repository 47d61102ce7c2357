import { connect } from 'node:net'

/** Sends one inline command and waits for `+OK`; any other reply is an error. */
export function sendRedisCommand(port: number, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.setTimeout(5_000, () => socket.destroy(new Error(`Redis did not answer ${command} within 5 s`)))
    socket.once('error', reject)
    socket.once('data', (reply) => {
      socket.destroy()
      if (reply.toString('latin1').startsWith('+OK')) resolve()
      else reject(new Error(`Redis answered ${command} with ${reply.toString('latin1').trim()}`))
    })
  })
}
