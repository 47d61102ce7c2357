import type { LookupValues } from './lookup-contract.js'

const PLACEHOLDER = /\{([a-z_]+(?:\.[^{}]{1,64})?)\}/g

/** Names of placeholders that stand for one value each; `reference.<name>` stands beside them. */
export const PLACEHOLDERS = [
  'key',
  'entry',
  'source',
  'delivery_id',
  'attempt',
  'first_attempt_at',
  'last_attempt_at',
] as const
export type Placeholder = (typeof PLACEHOLDERS)[number]

export type Filled =
  | { readonly kind: 'filled'; readonly text: string }
  | { readonly kind: 'missing'; readonly name: string }

/** Every placeholder of a text, in order. What is in braces and no placeholder's name is found too. */
export function listPlaceholders(template: string): readonly string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? '')
}

export function isPlaceholder(name: string): boolean {
  return PLACEHOLDERS.some((known) => known === name) || /^reference\.[^{}]{1,64}$/.test(name)
}

/**
 * The text with its placeholders filled, each value passed through `encode`. Missing: a value that is not on record,
 * or a reference that has more than one, since either of them would be a guess.
 */
export function fillTemplate(template: string, values: LookupValues, encode: (value: string) => string): Filled {
  let missing: string | null = null
  const text = template.replace(PLACEHOLDER, (_whole, name: string) => {
    const value = readPlaceholder(name, values)
    if (value === null) missing ??= name
    return value === null ? '' : encode(value)
  })
  return missing === null ? { kind: 'filled', text } : { kind: 'missing', name: missing }
}

function readPlaceholder(name: string, values: LookupValues): string | null {
  switch (name) {
    case 'key':
      return values.key
    case 'entry':
      return values.entry
    case 'source':
      return values.source
    case 'delivery_id':
      return values.deliveryId
    case 'attempt':
      return String(values.attempt)
    case 'first_attempt_at':
      return instant(values.firstAttemptAt)
    case 'last_attempt_at':
      return instant(values.lastAttemptAt)
    default:
      return name.startsWith('reference.') ? reference(name.slice('reference.'.length), values) : null
  }
}

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

function reference(name: string, values: LookupValues): string | null {
  const found = values.references.filter(([known]) => known === name)
  return found.length === 1 ? (found[0]?.[1] ?? null) : null
}
