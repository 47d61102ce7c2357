import { SWEEP_SOURCE } from '@counterfoil/core'
import { checkBinding } from './check-binding.js'
import { checkPreset } from './check-preset.js'
import { formatDuration } from './duration.js'
import { formatPath } from './format-path.js'
import type { SourceOutline } from './outline-source.js'
import type { ParsedEntry } from './parse-entries.js'
import { type ConfigProblem, error, warning } from './problem.js'
import type { ResolvedKey } from './resolve-source.js'
import type { SourceParts } from './source-schema.js'

/** By Standard Webhooks; Svix's own examples have fewer, so it is no reason to refuse. */
const MIN_WHSEC_BYTES = 24
/** Published by Zendesk for test requests, used as text. */
const ZENDESK_TEST_SECRET = Buffer.from(Buffer.from('this_secret_is_for_testing_only').toString('base64'))

export type CheckedSource = ParsedEntry<SourceParts> & {
  readonly outline: SourceOutline
  readonly keys: readonly ResolvedKey[]
}

/** Rules between the values of one source. `now` in epoch ms. */
export function checkSource(source: CheckedSource, now: number): readonly ConfigProblem[] {
  const { name, path, parts, outline } = source
  return [
    ...(name === SWEEP_SOURCE
      ? [error(path, 'is the name under which the sweep writes its deliveries; choose another')]
      : []),
    ...('preset' in parts ? checkPreset(path, parts) : []),
    ...checkKeys(source, now),
    ...checkDeadline(path, parts, outline),
    ...checkBinding(path, parts, outline),
    ...checkHorizon(path, parts, outline),
    ...checkPublicUrl(path, parts, outline),
  ]
}

function checkKeys({ path, outline, keys }: CheckedSource, now: number): readonly ConfigProblem[] {
  if (outline.scheme.keyEncoding === null) {
    return keys.length === 0
      ? []
      : [error(`${path}.keys`, "has no use here: the sender's keys are fetched; leave it out")]
  }
  if (keys.length === 0) return [error(`${path}.keys`, 'is empty: without a key nothing can be verified')]
  const problems: ConfigProblem[] = []
  const seen = new Map<string, number>()
  keys.forEach((key, index) => {
    const at = formatPath(path, ['keys', index])
    if (seen.has(key.id))
      problems.push(error(`${at}.id`, `"${key.id}" is used twice; evidence could not tell the keys apart`))
    seen.set(key.id, index)
    const bytes = key.cell.bytes()
    const twin = keys.findIndex((other) => other.cell.bytes().equals(bytes))
    if (bytes.length > 0 && twin < index) {
      problems.push(
        warning(`${at}.secret`, `is the same secret as key "${keys[twin]?.id}"; a rotation needs a new one`),
      )
    }
  })
  problems.push(...keys.flatMap((key, index) => checkStrength(formatPath(path, ['keys', index]), outline, key)))
  const active = keys.some((key) => (key.notBefore ?? 0) <= now && now <= (key.notAfter ?? Number.POSITIVE_INFINITY))
  if (!active) problems.push(warning(`${path}.keys`, 'none is active now: every push is answered 503 until one is'))
  return problems
}

function checkStrength(at: string, { scheme }: SourceOutline, { cell }: ResolvedKey): readonly ConfigProblem[] {
  const bytes = cell.bytes()
  if (bytes.equals(ZENDESK_TEST_SECRET)) {
    return [error(`${at}.secret`, 'is the secret that Zendesk publishes for tests: everybody can sign with it')]
  }
  if (scheme.keyEncoding !== 'whsec' || bytes.length === 0 || bytes.length >= MIN_WHSEC_BYTES) return []
  const message = `has ${bytes.length} bytes after decoding, Standard Webhooks asks for ${MIN_WHSEC_BYTES} at least`
  return [warning(`${at}.secret`, message)]
}

function checkDeadline(path: string, { ack }: SourceParts, { contract }: SourceOutline): readonly ConfigProblem[] {
  const { deadlineMs, senderTimeoutMs } = contract.ack
  if (deadlineMs < senderTimeoutMs) return []
  const said = ack?.deadline === undefined ? 'the default ' : ''
  return [
    error(
      `${path}.ack.deadline`,
      `${said}${formatDuration(deadlineMs)} must be shorter than senderTimeout (${formatDuration(senderTimeoutMs)}), else the sender gives up before we answer`,
    ),
  ]
}

function checkHorizon(path: string, parts: SourceParts, { scheme, contract }: SourceOutline): readonly ConfigProblem[] {
  const horizonMs = contract.redeliveryHorizonMs
  const windowMs = 2 * (scheme.toleranceMs ?? 0)
  if (horizonMs < windowMs) {
    return [
      error(
        `${path}.redeliveryHorizon`,
        `${formatDuration(horizonMs)} is shorter than the replay window of ${formatDuration(windowMs)}: a claim could be forgotten while its push is still believed`,
      ),
    ]
  }
  const age = parts.maxAge?.age ?? 0
  if (scheme.toleranceMs === null && horizonMs < age) {
    return [error(`${path}.redeliveryHorizon`, `must be at least maxAge.age (${formatDuration(age)})`)]
  }
  return []
}

function checkPublicUrl(path: string, parts: SourceParts, { scheme }: SourceOutline): readonly ConfigProblem[] {
  if (parts.publicUrl === undefined) {
    if (!scheme.needsPublicUrl) return []
    const message =
      'is missing: what the sender signs names the URL; give it exactly as the sender has it, since what a proxy says of it counts for nothing'
    return [error(`${path}.publicUrl`, message)]
  }
  const url = new URL(parts.publicUrl)
  if (url.protocol === 'https:' || isLoopbackHost(url.hostname)) return []
  return [
    warning(`${path}.publicUrl`, 'is not https: signatures protect the bytes, but everybody on the way can read them'),
  ]
}

/** Signatures cover the body, not the path: with one secret for two sources, a push for one verifies at the other. */
export function checkSharedSecrets(
  sources: readonly (ParsedEntry<SourceParts> & { readonly keys: readonly ResolvedKey[] })[],
): readonly ConfigProblem[] {
  return sources.flatMap(({ path, keys }, index) =>
    keys.flatMap(({ cell }, keyIndex) => {
      const bytes = cell.bytes()
      const other = sources
        .slice(0, index)
        .find((earlier) => earlier.keys.some((key) => key.cell.bytes().equals(bytes)))
      if (other === undefined || bytes.length === 0) return []
      const message = `is also a secret of source "${other.name}": a push captured there verifies here, too. Give each source its own`
      return [warning(formatPath(path, ['keys', keyIndex, 'secret']), message)]
    }),
  )
}

/** Two sources on one path could not be told apart. */
export function checkPaths(sources: readonly ParsedEntry<SourceParts>[]): readonly ConfigProblem[] {
  const taken = new Map<string, string>()
  return sources.flatMap(({ name, path, parts }) => {
    const other = taken.get(parts.path)
    taken.set(parts.path, other ?? name)
    return other === undefined ? [] : [error(`${path}.path`, `${parts.path} is already the path of source "${other}"`)]
  })
}

/** By its name only; the address behind a name is judged when it is connected to. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
