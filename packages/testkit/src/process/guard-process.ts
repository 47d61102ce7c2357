import { type ChildProcess, spawn } from 'node:child_process'

export type ProcessGuard = { readonly release: () => void }

// Waits for the end of its input, which the kernel closes however this process ends, kill -9 included.
// The gentle signal comes first so that PostgreSQL can give back its shared memory (QUIT is its immediate shutdown).
const SCRIPT = `cat >/dev/null
kill -CONT "$1" 2>/dev/null
kill -"$2" "$1" 2>/dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$1" 2>/dev/null || break; sleep 0.2; done
kill -KILL "$1" 2>/dev/null
test -z "$3" || rm -rf -- "$3"`

/**
 * Makes sure that `child` does not outlive this process, even when this process is killed.
 *
 * A small shell of its own session (so that Ctrl-C does not reach it) holds a pipe to us. When the pipe ends it sends
 * `signal`, after 2 s KILL, and removes `directory` when one is given. `release` is called when the child has ended.
 */
export function guardProcess(child: ChildProcess, signal: 'TERM' | 'QUIT' | 'KILL', directory = ''): ProcessGuard {
  if (child.pid === undefined) return { release: () => {} }
  const guard = spawn('sh', ['-c', SCRIPT, 'guard', String(child.pid), signal, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  })
  guard.unref()
  const pipe = guard.stdin
  pipe?.on('error', () => {})
  if (pipe !== null && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref()
  return { release: () => guard.kill('SIGKILL') }
}
