import { isStorableText, type UnclaimedTrace } from '@counterfoil/core'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const DIGEST = /^[0-9a-f]{64}$/
const MAX_TEXT_BYTES = 512
/** The last instant that a `Date` can name; PostgreSQL goes on a little longer. */
const LATEST_MS = 8.64e15

/** One line of the spool: ids and the digest, never a payload (I10). */
export function formatTraceLine(trace: UnclaimedTrace): string {
  const { id, source, deliveryId, identityDigest, seenAt, cause } = trace
  return `${JSON.stringify({ id, source, deliveryId, digest: identityDigest.toString('hex'), seenAt, cause })}\n`
}

/** `null`: nothing that the database would take, as one such line would hold up all others. It was torn by a crash or a full disk, or is not ours. */
export function parseTraceLine(line: string): UnclaimedTrace | null {
  try {
    const { id, source, deliveryId, digest, seenAt, cause } = JSON.parse(line) as Record<string, unknown>
    if (!isText(id) || !isText(source) || !isText(deliveryId) || !isText(digest) || !isText(cause)) return null
    if (!UUID.test(id) || !DIGEST.test(digest) || !isInstant(seenAt)) return null
    return { id, source, deliveryId, identityDigest: Buffer.from(digest, 'hex'), seenAt, cause }
  } catch {
    return null
  }
}

function isInstant(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LATEST_MS
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && Buffer.byteLength(value) <= MAX_TEXT_BYTES && isStorableText(value)
}
