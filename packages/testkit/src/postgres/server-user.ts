import { execFileSync } from 'node:child_process'

export type ServerUser = { readonly uid: number; readonly gid: number }

/**
 * Whom PostgreSQL runs as: `null` (ourselves) for a normal user, an existing unprivileged user for root.
 *
 * No user is created: `nobody` exists on every system, and `postgres` is better where somebody has made it.
 */
export function chooseServerUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    const uid = readId('-u', name)
    const gid = readId('-g', name)
    if (uid !== null && gid !== null) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and neither of the users `postgres` and `nobody` exists here')
}

function readId(flag: string, name: string): number | null {
  try {
    return Number(execFileSync('id', [flag, name], { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] }))
  } catch {
    return null
  }
}
