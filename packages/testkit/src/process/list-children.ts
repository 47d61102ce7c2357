import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Process ids of the direct children of `pid`, read from /proc where there is one, else from `pgrep`. */
export function listChildren(pid: number): readonly number[] {
  return process.platform === 'linux' ? readProc(pid) : readPgrep(pid)
}

function readProc(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readParent(pid) === parent)
}

function readParent(pid: number): number | null {
  try {
    // The command name is in parentheses and may hold spaces: what follows the last one is "state ppid …".
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

function readPgrep(parent: number): readonly number[] {
  try {
    const output = execFileSync('pgrep', ['-P', String(parent)], { encoding: 'latin1' })
    return output.split('\n').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
