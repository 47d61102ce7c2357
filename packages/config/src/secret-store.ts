import { type ConfigProblem, error } from './problem.js'
import {
  formatSecretRef,
  readSecret,
  type SecretReading,
  type SecretRule,
  type SecretSurroundings,
} from './read-secret.js'
import type { SecretRef } from './secret.js'

/** One secret in use. `bytes()` is the current value; empty only while the configuration is invalid. */
export type SecretCell = {
  readonly bytes: () => Buffer
  readonly describe: () => string
}

/** All secrets of one configuration: read once when asked for, and again together on `reload`. */
export type SecretStore = {
  readonly read: (path: string, ref: SecretRef, rule: SecretRule) => SecretCell
  readonly problems: () => readonly ConfigProblem[]
  readonly reload: () => readonly ConfigProblem[]
}

type Slot = { readonly path: string; readonly ref: SecretRef; readonly rule: SecretRule; reading: SecretReading }

export function createSecretStore(around: SecretSurroundings): SecretStore {
  const slots: Slot[] = []
  return {
    read: (path, ref, rule) => {
      const slot: Slot = { path, ref, rule, reading: readSecret(ref, rule, around) }
      slots.push(slot)
      return {
        bytes: () => (slot.reading.ok ? slot.reading.bytes : Buffer.alloc(0)),
        describe: () => describeSlot(slot),
      }
    },
    problems: () => slots.flatMap(({ path, reading }) => (reading.ok ? [] : [error(path, reading.why)])),
    reload: () => slots.flatMap((slot) => reloadSlot(slot, around)),
  }
}

/** A secret that can't be used any more keeps its old value: a half-written file must not stop a running receiver. */
function reloadSlot(slot: Slot, around: SecretSurroundings): ConfigProblem[] {
  if (slot.reading.ok && !slot.reading.fromFile) return []
  const next = readSecret(slot.ref, slot.rule, around)
  if (next.ok || !slot.reading.ok) slot.reading = next
  return next.ok ? [] : [error(slot.path, `${next.why}; the value from before stays in use`)]
}

function describeSlot({ ref, reading }: Slot): string {
  const prefix = ref.prefix === undefined ? '' : `${JSON.stringify(ref.prefix)} + `
  return `${prefix}${formatSecretRef(ref)} (${reading.ok ? `set, ${reading.bytes.length} bytes` : 'not usable'})`
}
