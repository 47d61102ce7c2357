import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartRefused } from './start-refused.js'

/** Listens and returns the port taken. Throws `StartRefused` with what to change when the address is not to be had. */
export function listen(server: Server, host: string, port: number, setting: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new StartRefused([`${host}:${port} can't be listened on (${error.code}). ${advise(error, setting)}`], 2))
    })
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      server.on('error', () => {})
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function advise(error: NodeJS.ErrnoException, setting: string): string {
  if (error.code === 'EADDRINUSE') return `Something else listens there: stop it, or set ${setting}_PORT.`
  if (error.code === 'EACCES') return `This user may not: take a port above 1023 with ${setting}_PORT.`
  return `Set ${setting}_HOST and ${setting}_PORT to an address of this machine.`
}
