import { DEFAULT_TOLERANCE_MS, SWEEP_SOURCE } from '@counterfoil/core'
import { DEFAULTS } from './defaults.js'
import { formatDuration } from './duration.js'
import { formatPath } from './format-path.js'
import type { ParsedEntry } from './parse-entries.js'
import { type ConfigProblem, error, warning } from './problem.js'
import type { ResolvedKey } from './resolve-source.js'
import type { SourceParts } from './source-schema.js'

/** Rules between the values of one source. `now` in epoch ms. */
export function checkSource(
  name: string,
  path: string,
  parts: SourceParts,
  keys: readonly ResolvedKey[],
  now: number,
): readonly ConfigProblem[] {
  return [
    ...(name === SWEEP_SOURCE
      ? [error(path, 'is the name under which the sweep writes its deliveries; choose another')]
      : []),
    ...checkKeys(path, keys, now),
    ...checkDeadline(path, parts),
    ...checkBinding(path, parts),
    ...checkHorizon(path, parts),
    ...checkPublicUrl(path, parts),
  ]
}

function checkKeys(path: string, keys: readonly ResolvedKey[], now: number): readonly ConfigProblem[] {
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
  const active = keys.some((key) => (key.notBefore ?? 0) <= now && now <= (key.notAfter ?? Number.POSITIVE_INFINITY))
  if (!active) problems.push(warning(`${path}.keys`, 'none is active now: every push is answered 503 until one is'))
  return problems
}

function checkDeadline(path: string, { ack }: SourceParts): readonly ConfigProblem[] {
  const deadlineMs = ack.deadline ?? DEFAULTS.source.ackDeadlineMs
  if (deadlineMs < ack.senderTimeout) return []
  const said = ack.deadline === undefined ? 'the default ' : ''
  return [
    error(
      `${path}.ack.deadline`,
      `${said}${formatDuration(deadlineMs)} must be shorter than senderTimeout (${formatDuration(ack.senderTimeout)}), else the sender gives up before we answer`,
    ),
  ]
}

/** Says in words what a scheme leaves open. */
function checkBinding(path: string, parts: SourceParts): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const horizon = formatDuration(parts.redeliveryHorizon)
  if (parts.verify.scheme === 'hmac_body' && parts.maxAge === undefined) {
    problems.push(
      warning(
        `${path}.verify`,
        `the signature binds no time: a captured push stays valid as long as its key. The claim absorbs a repeat for ${horizon} at least; set maxAge if the signed body holds its time`,
      ),
    )
  }
  const unsigned = [
    parts.deliveryId.kind === 'header' ? `the delivery id (${parts.deliveryId.header})` : null,
    parts.eventType?.kind === 'header' ? `the event type (${parts.eventType.header})` : null,
  ].filter((field) => field !== null)
  if (unsigned.length > 0) {
    problems.push(
      warning(
        `${path}.verify`,
        `the signature does not cover ${unsigned.join(' and ')}: whoever captures a push can send it again under another one while it is fresh. Business keys still make it one action; a pointer into the signed body closes the gap`,
      ),
    )
  }
  if (parts.deliveryId.kind === 'body_digest') {
    problems.push(warning(`${path}.deliveryId`, 'two real events with equal bodies count as one delivery'))
  }
  return problems
}

function checkHorizon(path: string, parts: SourceParts): readonly ConfigProblem[] {
  const windowMs = parts.verify.scheme === 'hmac_timestamped' ? 2 * (parts.verify.tolerance ?? DEFAULT_TOLERANCE_MS) : 0
  const needed = Math.max(windowMs, parts.maxAge?.age ?? 0)
  if (parts.verify.scheme === 'hmac_timestamped' && parts.redeliveryHorizon < windowMs) {
    return [
      error(
        `${path}.redeliveryHorizon`,
        `${formatDuration(parts.redeliveryHorizon)} is shorter than the replay window of ${formatDuration(windowMs)}: a claim could be forgotten while its push is still believed`,
      ),
    ]
  }
  if (parts.verify.scheme === 'hmac_body' && parts.redeliveryHorizon < needed) {
    return [error(`${path}.redeliveryHorizon`, `must be at least maxAge.age (${formatDuration(needed)})`)]
  }
  return []
}

function checkPublicUrl(path: string, parts: SourceParts): readonly ConfigProblem[] {
  if (parts.publicUrl === undefined) return []
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
