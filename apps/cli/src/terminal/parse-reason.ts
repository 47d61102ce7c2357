import { isStorableText } from '@counterfoil/core'
import { InvalidArgumentError } from 'commander'

const LEAST = 3
const MOST_BYTES = 1000

/** Why somebody acts, or what they looked at: said in words, kept for good. */
export function parseReason(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length < LEAST) throw new InvalidArgumentError(`say it in at least ${LEAST} characters.`)
  if (Buffer.byteLength(trimmed) > MOST_BYTES) throw new InvalidArgumentError(`say it in at most ${MOST_BYTES} bytes.`)
  if (!isStorableText(trimmed)) throw new InvalidArgumentError('it holds characters that no database keeps.')
  return trimmed
}
