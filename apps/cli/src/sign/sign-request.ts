import {
  type KeyMaterial,
  NO_KEY_MATERIAL,
  type PushRequest,
  readQuery,
  resolvePublicUrl,
  type SignedPush,
  type SourceContract,
} from '@counterfoil/core'
import type { ShapedPush } from '../push/shape-push.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import type { SigningPair } from './read-signing-key.js'

export type SignedRequest = {
  /** Where it goes, with the query that the scheme may have added. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const LATIN1 = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Signs as the sender does, and has the verifier judge it before anybody sees it: what is printed is believed, unless
 * only a fetched certificate could tell.
 * @param url where it goes; the signature covers the contract's public URL with this one's query
 */
export async function signRequest(
  contract: SourceContract,
  pair: SigningPair,
  push: ShapedPush,
  url: string,
  at: number,
): Promise<SignedRequest> {
  const publicUrl = resolvePublicUrl(contract.publicUrl, readQuery(url)) ?? url
  const unsigned = { method: 'POST', publicUrl, headers: push.headers, rawBody: push.body }
  const signed = await trySign(contract, unsigned, pair, at)
  const foreign = Object.entries(signed.headers).find(([, value]) => !LATIN1.test(value))
  if (foreign !== undefined) throw usage(`header ${foreign[0]} has characters that a header can't have`)
  const query = readQuery(signed.publicUrl ?? '')
  await checkBelieved(contract, pair, { ...signed, publicUrl: resolvePublicUrl(contract.publicUrl, query) }, query, at)
  return { url: `${url.replace(/[?#].*$/s, '')}${query}`, headers: signed.headers, body: signed.rawBody }
}

async function trySign(
  contract: SourceContract,
  unsigned: SignedPush,
  { key }: SigningPair,
  at: number,
): Promise<SignedPush> {
  if (contract.sign === null) throw usage(`${contract.name} has a scheme of its own that cannot be signed here`)
  try {
    return await contract.sign(unsigned, key, at)
  } catch (error) {
    // What a signer throws names what it needs of body, URL or key.
    if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
      throw usage(`it can't be signed: ${error.message}`)
    }
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_OSSL')) {
      throw usage('it can not be signed with this key', 'a sender whose keys are fetched needs --private-key')
    }
    throw error
  }
}

async function checkBelieved(
  contract: SourceContract,
  { verifyWith, published }: SigningPair,
  signed: SignedPush,
  query: string,
  at: number,
): Promise<void> {
  const { method, publicUrl, rawBody } = signed
  const headers = new Map(Object.entries(signed.headers).map(([name, value]) => [name.toLowerCase(), [value]] as const))
  const request: PushRequest = { method, publicUrl, query, headers, rawBody }
  const material: KeyMaterial =
    published === null ? NO_KEY_MATERIAL : { ...NO_KEY_MATERIAL, keySet: () => ({ kind: 'found', keys: [published] }) }
  const verdict = await contract.verify(request, verifyWith ?? contract.keys(), at, material)
  if (verdict.kind === 'verified') return
  if (verdict.cause === 'key_material_unavailable') return
  const next =
    verdict.cause === 'signature_mismatch'
      ? 'where the source has a public key, name its private half with --private-key'
      : verdict.cause === 'public_url_missing'
        ? 'give the public URL with --url'
        : null
  throw usage(`what was signed is not believed: ${verdict.cause}, ${verdict.hint}`, next)
}

function usage(what: string, next: string | null = null): CommandFailure {
  return new CommandFailure(EXIT.usage, what, next)
}
