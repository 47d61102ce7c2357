import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import type { DatabaseUser } from './database-user.js'

/** Runs a program as the given user and resolves when it ended well; throws with the last line it said. */
export function runToEnd(program: string, args: readonly string[], user: DatabaseUser | null): Promise<void> {
  return new Promise((resolve, reject) => {
    // `cwd: '/'`: the user may not be allowed to enter the directory that we were started in.
    const child = spawn(program, args, { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-2000)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) return resolve()
      const lastLine = said.trim().split('\n').at(-1) ?? ''
      reject(new Error(`${basename(program)} ended with code ${code}: ${lastLine}`))
    })
  })
}
