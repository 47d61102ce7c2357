import { isActive } from '../intake/match-key.js'
import type { SigningKey } from '../intake/push-request.js'
import type { Variation } from './variation.js'

/** The keys that are there and not active at the moment of judgement, each as if it were. */
export function listKeyWindows(keys: readonly SigningKey[], at: number): readonly Variation[] {
  return keys
    .filter((key) => key.secret.length > 0 && !isActive(key, at))
    .map((key) => ({
      part: 'key_window' as const,
      code: key.notBefore !== undefined && at < key.notBefore ? 'key_not_active_yet' : 'key_not_active_any_more',
      words: `key ${key.id} were active, ${describeWindow(key)}`,
      next: 'widen notBefore or notAfter of this key, or have the sender use the key that is active now',
      apply: (subject) => ({ ...subject, keys: [{ id: key.id, secret: key.secret }] }),
    }))
}

function describeWindow({ notBefore, notAfter }: SigningKey): string {
  const from = notBefore === undefined ? '' : ` from ${new Date(notBefore).toISOString()}`
  const until = notAfter === undefined ? '' : ` until ${new Date(notAfter).toISOString()}`
  return `which it is only${from}${until}`
}
