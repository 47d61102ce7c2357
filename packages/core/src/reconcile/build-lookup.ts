import { fillTemplate } from './fill-template.js'
import type { JsonTemplate, LookupContract, LookupValues } from './lookup-contract.js'

export type LookupRequest =
  | { readonly kind: 'request'; readonly method: 'GET' | 'POST'; readonly path: string; readonly body: Buffer | null }
  /** `why`: in words, with the name of a placeholder, never its value. */
  | { readonly kind: 'unbuildable'; readonly why: string }

/**
 * The request that asks about one entry. A value can't leave its place: it is percent-encoded in the target, and one
 * that would be a dot segment, which servers and proxies resolve even when encoded, is refused.
 */
export function buildLookup(contract: LookupContract, values: LookupValues): LookupRequest {
  const target = fillTemplate(contract.target, values, encodeURIComponent)
  if (target.kind === 'missing') return missing(target.name)
  const [path = ''] = target.text.split(/[?#]/, 1)
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) {
    return { kind: 'unbuildable', why: 'a value would be a dot segment of the path' }
  }
  if (contract.body === null) return { kind: 'request', method: contract.method, path: target.text, body: null }
  const absent: string[] = []
  const body = fillJson(contract.body, values, absent)
  const [name] = absent
  if (name !== undefined) return missing(name)
  return { kind: 'request', method: contract.method, path: target.text, body: Buffer.from(JSON.stringify(body)) }
}

function missing(name: string): LookupRequest {
  return { kind: 'unbuildable', why: `there is no single value on record for {${name}}` }
}

function fillJson(template: JsonTemplate, values: LookupValues, absent: string[]): JsonTemplate {
  if (typeof template === 'string') {
    const filled = fillTemplate(template, values, (value) => value)
    if (filled.kind === 'filled') return filled.text
    absent.push(filled.name)
    return null
  }
  if (typeof template !== 'object' || template === null) return template
  if (isList(template)) return template.map((item) => fillJson(item, values, absent))
  return Object.fromEntries(Object.entries(template).map(([name, item]) => [name, fillJson(item, values, absent)]))
}

function isList(template: JsonTemplate): template is readonly JsonTemplate[] {
  return Array.isArray(template)
}
