const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const POOL_BYTES = 4096
const BYTES_PER_ID = 10
const COUNTER_BITS_MASK = 0x0fff
/** A new millisecond starts in the lower half of the counter, so at least 2,048 ids follow before it is full. */
const COUNTER_START_MASK = 0x07ff

/**
 * One UUID version 7 (RFC 9562): 48 bits of time, then what `random` holds.
 * @param now epoch milliseconds
 * @param random at least 10 bytes
 */
export function createUuidV7(now: number, random: Uint8Array): string {
  if (random.length < BYTES_PER_ID) throw new RangeError(`a UUIDv7 needs ${BYTES_PER_ID} random bytes`)
  const counter = ((byteAt(random, 0) << 8) | byteAt(random, 1)) & COUNTER_BITS_MASK
  return formatUuidV7(now, counter, random, 2)
}

/**
 * A generator whose ids rise within one process, also when many are made in one millisecond or the clock steps back.
 * `fillRandom` (in production `randomFillSync`) is called once per 409 ids: a call per id cost more than the rest.
 */
export function createUuidV7Generator(sources: {
  readonly now: () => number
  readonly fillRandom: (pool: Uint8Array) => void
}): () => string {
  const pool = new Uint8Array(POOL_BYTES)
  let used = POOL_BYTES
  let lastMs = 0
  let counter = 0
  return () => {
    if (used + BYTES_PER_ID > POOL_BYTES) {
      sources.fillRandom(pool)
      used = 0
    }
    const at = used
    used += BYTES_PER_ID
    const now = Math.floor(sources.now())
    if (now > lastMs) {
      lastMs = now
      counter = ((byteAt(pool, at) << 8) | byteAt(pool, at + 1)) & COUNTER_START_MASK
    } else if (counter < COUNTER_BITS_MASK) {
      counter += 1
    } else {
      lastMs += 1
      counter = ((byteAt(pool, at) << 8) | byteAt(pool, at + 1)) & COUNTER_START_MASK
    }
    return formatUuidV7(lastMs, counter, pool, at + 2)
  }
}

function formatUuidV7(ms: number, counter: number, random: Uint8Array, at: number): string {
  const high = Math.floor(ms / 0x1_0000_0000)
  const low = ms >>> 0
  return (
    `${hex(high >>> 8)}${hex(high)}${hex(low >>> 24)}${hex(low >>> 16)}-${hex(low >>> 8)}${hex(low)}-` +
    `${hex(0x70 | (counter >>> 8))}${hex(counter)}-` +
    `${hex(0x80 | (byteAt(random, at) & 0x3f))}${hex(byteAt(random, at + 1))}-` +
    `${hex(byteAt(random, at + 2))}${hex(byteAt(random, at + 3))}${hex(byteAt(random, at + 4))}` +
    `${hex(byteAt(random, at + 5))}${hex(byteAt(random, at + 6))}${hex(byteAt(random, at + 7))}`
  )
}

function hex(value: number): string {
  return HEX[value & 0xff] ?? '00'
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0
}
