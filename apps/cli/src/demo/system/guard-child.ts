import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { platform } from 'node:os'

export type Guard = { readonly release: () => void }

/** When we are killed with -9, this shell's input ends and it stops the child for us. None on Windows. */
export function guardChild(child: ChildProcess, signal: 'INT' | 'TERM'): Guard {
  if (platform() === 'win32' || child.pid === undefined) return { release: () => {} }
  const shell = spawn('/bin/sh', ['-c', `cat >/dev/null; kill -${signal} "$0"`, String(child.pid)], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.on('error', () => {})
  shell.unref()
  // The pipe must not keep us alive either.
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  const release = () => void shell.kill('SIGKILL')
  // Process ids are reused: a guard must not outlive its child.
  child.once('exit', release)
  return { release }
}
