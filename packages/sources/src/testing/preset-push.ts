import {
  decodeKey,
  type PlanResult,
  planPush,
  type Scheme,
  type SigningKey,
  type SourceContract,
  type UnsignedPush,
  type Verified,
} from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { createPresetContract } from '../preset-contract.js'
import { NOW, rsaMaterial, rsaSigningKey } from './signing.js'
import { arriving } from './vectors.js'

const URL_OF_TESTS = 'https://hooks.example.test/in'
const SECRET = Buffer.from('a preset secret of the tests 0001').toString('base64')

/** A key of the form that the scheme wants. */
export function keyFor(scheme: Scheme): SigningKey {
  if (scheme.keyEncoding === null) return rsaSigningKey
  const decoded = decodeKey(SECRET, scheme.keyEncoding)
  if (decoded.kind === 'unusable') throw new Error(decoded.why)
  return { id: 'k1', secret: decoded.bytes }
}

/** The contract that a minimal configuration would make of it. */
export function toContract(preset: Preset, changes: Partial<SourceContract> = {}): SourceContract {
  return { ...createPresetContract(preset, { publicUrl: URL_OF_TESTS, keys: [keyFor(preset.scheme)] }), ...changes }
}

export type TestPush = { readonly headers?: Readonly<Record<string, string>>; readonly body: object | string }

/** Signs as the sender does and plans what arrives; throws when the signature is not believed. */
export async function planSigned(preset: Preset, { headers = {}, body }: TestPush): Promise<PlanResult> {
  const rawBody = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const unsigned: UnsignedPush = {
    method: 'POST',
    publicUrl: URL_OF_TESTS,
    headers: { 'content-type': 'application/json', ...headers },
    rawBody,
  }
  const { scheme } = preset
  if (scheme.sign === null) throw new Error(`${preset.name} can not be signed for`)
  const request = arriving(await scheme.sign(unsigned, keyFor(scheme), NOW))
  const verified = await scheme.verify(request, [keyFor(scheme)], NOW, rsaMaterial)
  if (verified.kind !== 'verified') throw new Error(`${verified.cause}: ${verified.hint}`)
  return planPush(toContract(preset), request, verified, NOW, createCounter())
}

/** Plans what is verified already, such as a message that only its sender can sign. */
export function planVerified(preset: Preset, { headers = {}, body }: TestPush): PlanResult {
  const rawBody = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const request = arriving({ method: 'POST', publicUrl: URL_OF_TESTS, headers, rawBody })
  const verified: Verified = { kind: 'verified', keyId: 'k1', bodyBound: true, signedAt: NOW }
  return planPush(toContract(preset), request, verified, NOW, createCounter())
}

function createCounter(): () => string {
  let made = 0
  return () => `00000000-0000-7000-8000-${String(++made).padStart(12, '0')}`
}
