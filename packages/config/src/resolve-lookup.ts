import type { LookupContract, LookupRule, LookupTest } from '@counterfoil/core'
import { DEFAULTS } from './defaults.js'
import type { LookupParts, LookupRuleParts } from './lookup-schema.js'

/** The contract of a lookup that `checkLookup` has nothing against. */
export function resolveLookup(parts: LookupParts): LookupContract {
  const { lookup } = DEFAULTS.destination
  return {
    method: parts.method ?? 'GET',
    target: toTarget(parts.url),
    body: parts.body ?? null,
    rules: parts.rules.map(resolveRule),
    graceMs: parts.grace ?? lookup.graceMs,
    firstMs: parts.first ?? lookup.firstMs,
    capMs: parts.cap ?? lookup.capMs,
    maxProbes: parts.maxProbes ?? lookup.maxProbes,
    concurrency: parts.concurrency ?? lookup.concurrency,
    didNot: parts.didNot ?? 'resend',
  }
}

/** Path and query as they were written: `URL` would encode the braces of placeholders. */
function toTarget(url: string): string {
  return splitUrl(url).target
}

/** `origin` is `null` for a path. */
export function splitUrl(url: string): { readonly origin: string | null; readonly target: string } {
  const match = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/is.exec(url)
  const origin = match?.[1] ?? null
  const rest = match?.[2] ?? url
  return { origin, target: rest.startsWith('/') ? rest : `/${rest}` }
}

function resolveRule(parts: LookupRuleParts): LookupRule {
  return {
    statuses: parts.status ?? [],
    pointer: parts.pointer ?? null,
    test: resolveTest(parts),
    finding: parts.finding,
  }
}

function resolveTest({ equals, exists, empty }: LookupRuleParts): LookupTest {
  if (equals !== undefined) return { kind: 'equals', value: equals }
  if (empty !== undefined) return { kind: empty ? 'empty' : 'not_empty' }
  return { kind: exists === false ? 'absent' : 'exists' }
}
