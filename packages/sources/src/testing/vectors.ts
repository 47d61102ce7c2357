import type { JsonWebKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  decodeKey,
  type KeyMaterial,
  NO_KEY_MATERIAL,
  type PushRequest,
  type Scheme,
  type SignedPush,
  type SigningKey,
  type Verification,
} from '@counterfoil/core'

/** A push and what becomes of it; made once, by its `origin`. */
export type Vector = {
  readonly title: string
  readonly scheme: string
  readonly secrets?: readonly string[]
  readonly publicUrl?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly utf8: string } | { readonly base64: string }
  /** The clock to judge at; absent where nothing depends on it. */
  readonly nowSeconds?: number
  /** `null`: without a look at the clock. */
  readonly toleranceMs?: null
  readonly expect: { readonly verifiedBy: number } | { readonly refused: string }
  readonly deliveryId?: string | null
}

export type VectorFile = {
  readonly vectors: readonly Vector[]
  readonly keySet?: { readonly keys: readonly JsonWebKey[] }
  readonly certificates?: Readonly<Record<string, string>>
  readonly certificateUrls?: readonly { readonly url: string; readonly accepted: boolean }[]
}

/** When no vector says otherwise: within the life of every certificate among them. */
const SOME_TIME_S = 1_800_000_000

export function readVectors(sender: string): VectorFile {
  return JSON.parse(readFileSync(new URL(`../vectors/${sender}.json`, import.meta.url), 'utf8')) as VectorFile
}

/** The request as the receiver would hand it to a verifier. */
export function toPushRequest(vector: Vector): PushRequest {
  return arriving({
    method: 'POST',
    publicUrl: vector.publicUrl ?? null,
    headers: vector.headers,
    rawBody: 'utf8' in vector.body ? Buffer.from(vector.body.utf8) : Buffer.from(vector.body.base64, 'base64'),
  })
}

/** What arrives when a signed push is sent. */
export function arriving(push: SignedPush): PushRequest {
  const { method, publicUrl, rawBody } = push
  const query = publicUrl?.includes('?') ? publicUrl.slice(publicUrl.indexOf('?')) : ''
  const headers = new Map(Object.entries(push.headers).map(([name, value]) => [name.toLowerCase(), [value]] as const))
  return { method, publicUrl, query, headers, rawBody }
}

export function toKeys(scheme: Scheme, secrets: readonly string[] = []): readonly SigningKey[] {
  return secrets.map((text, index) => {
    const decoded = decodeKey(text, scheme.keyEncoding ?? 'utf8')
    if (decoded.kind === 'unusable') throw new Error(`key ${index} ${decoded.why}`)
    return { id: `key-${index}`, secret: decoded.bytes }
  })
}

export function runVector(
  scheme: Scheme,
  vector: Vector,
  material: KeyMaterial = NO_KEY_MATERIAL,
): Verification | Promise<Verification> {
  const now = (vector.nowSeconds ?? SOME_TIME_S) * 1000
  return scheme.verify(toPushRequest(vector), toKeys(scheme, vector.secrets), now, material)
}

/** Keys that are at hand and need no fetching. */
export function localMaterial(file: Pick<VectorFile, 'keySet' | 'certificates'>): KeyMaterial {
  const certificates = new Map(Object.entries(file.certificates ?? {}))
  return {
    keySet: () => (file.keySet === undefined ? { kind: 'missing', cause: 'none' } : { kind: 'found', ...file.keySet }),
    certificate: (url) => {
      const pem = certificates.get(url)
      return pem === undefined ? { kind: 'missing', cause: 'http_404' } : { kind: 'found', pem }
    },
  }
}
