import type { PushRequest } from './push-request.js'
import { type Refusal, refuse } from './verification.js'

/** The headers that one signature is made of. A sender may have several such families of names. */
export type SignatureHeaders = {
  readonly signature: string
  /** Absent where the grammar has it in the signature header, or where no time is signed. */
  readonly timestamp?: string
  /** The signed delivery id. */
  readonly id?: string
}

export type HeaderFamily = {
  readonly signature: string
  readonly timestamp: string | null
  readonly id: string | null
}

export function toHeaderFamilies(
  headers: SignatureHeaders | readonly SignatureHeaders[],
): readonly [HeaderFamily, ...HeaderFamily[]] {
  const [first, ...rest] = (Array.isArray(headers) ? headers : [headers]).map(
    (names: SignatureHeaders): HeaderFamily => ({
      signature: names.signature.toLowerCase(),
      timestamp: names.timestamp?.toLowerCase() ?? null,
      id: names.id?.toLowerCase() ?? null,
    }),
  )
  if (first === undefined) throw new TypeError('a scheme needs the names of its headers')
  return [first, ...rest]
}

/**
 * The family that this push is signed in: the first whose signature is there. Of the others nothing may differ from it:
 * whoever reads the id by another name would read one that nobody signed.
 */
export function chooseHeaderFamily(
  families: readonly [HeaderFamily, ...HeaderFamily[]],
  headers: PushRequest['headers'],
): HeaderFamily | Refusal {
  if (families.length === 1) return families[0]
  const chosen = families.find((family) => headers.has(family.signature)) ?? families[0]
  for (const other of families) {
    if (other === chosen) continue
    for (const part of ['signature', 'timestamp', 'id'] as const) {
      const strange = other[part]
      const own = chosen[part]
      if (strange === null || own === null || !headers.has(strange)) continue
      if (headers.get(strange)?.join('\n') !== headers.get(own)?.join('\n')) {
        return refuse('headers_mixed', `headers ${own} and ${strange} say different things`)
      }
    }
  }
  return chosen
}
