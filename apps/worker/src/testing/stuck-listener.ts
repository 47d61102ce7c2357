import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A listener that accepts nothing and whose queue is full: the kernel drops every further SYN. */
export type StuckListener = { readonly port: number; readonly close: () => Promise<void> }

const PROGRAM = `
const server = require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  process.stdout.write(String(server.address().port), () => process.kill(process.pid, 'SIGSTOP'))
})`

export async function startStuckListener(): Promise<StuckListener> {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [text] = await once(child.stdout, 'data')
  const port = Number(String(text))
  const held: Socket[] = []
  // Fills its queue until a connection is left without an answer.
  while (await connects(port, held)) {}
  return {
    port,
    close: async () => {
      for (const socket of held) socket.destroy()
      child.kill('SIGKILL')
      await exited
    },
  }
}

function connects(port: number, held: Socket[]): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    held.push(socket)
    const timer = setTimeout(() => resolve(false), 400)
    socket.on('error', () => {})
    socket.once('connect', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
