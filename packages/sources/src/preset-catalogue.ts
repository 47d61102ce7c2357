import type { Preset } from './preset.js'
import * as presets from './presets.js'
import { type OptionForm, readPresetOption } from './read-preset-option.js'

type Entry = {
  /** Reads only what its forms below have let through. */
  readonly make: (options: never) => Preset
  readonly options: Readonly<Record<string, OptionForm>>
}

const TOLERANCE = { toleranceMs: 'milliseconds' } as const
const GOOGLE = {
  audience: 'texts',
  serviceAccounts: 'texts',
  clockToleranceMs: 'milliseconds',
} as const

/** Every preset by its name in the configuration, with the options that can be given as text. */
const CATALOGUE: Readonly<Record<string, Entry>> = {
  standardWebhooks: { make: presets.standardWebhooks, options: { ...TOLERANCE, keys: ['whsec', 'whpk'] } },
  svix: { make: presets.svix, options: { ...TOLERANCE, keys: ['whsec', 'whpk'] } },
  github: { make: presets.github, options: {} },
  stripe: { make: presets.stripe, options: TOLERANCE },
  slack: { make: presets.slack, options: TOLERANCE },
  shopify: { make: presets.shopify, options: {} },
  zendesk: { make: presets.zendesk, options: TOLERANCE },
  intercom: { make: presets.intercom, options: {} },
  hubspot: { make: presets.hubspot, options: { ...TOLERANCE, signature: ['v3', 'v2', 'v1'] } },
  twilio: { make: presets.twilio, options: { reply: ['empty', 'twiml'] } },
  pubsub: { make: presets.pubsub, options: { ...GOOGLE, payload: ['wrapped', 'unwrapped_with_metadata'] } },
  cloudTasks: { make: presets.cloudTasks, options: GOOGLE },
  sns: { make: presets.sns, options: { topicArns: 'texts', allowSha1: 'flag' } },
  eventBridge: { make: presets.eventBridge, options: { authorization: 'authorization' } },
  qstash: { make: presets.qstash, options: { clockToleranceMs: 'milliseconds' } },
  eventGrid: { make: presets.eventGrid, options: { auth: 'auth', subscriptions: 'texts' } },
  cloudEvents: { make: presets.cloudEvents, options: { auth: 'auth', origins: 'texts' } },
  cloudflare: { make: presets.cloudflare, options: { ...TOLERANCE, product: ['stream', 'notifications'] } },
}

export const PRESET_NAMES: readonly string[] = Object.keys(CATALOGUE)

export type NamedPreset =
  | { readonly kind: 'preset'; readonly preset: Preset }
  | { readonly kind: 'unknown' }
  /** Says what is wrong and what belongs there. */
  | { readonly kind: 'unusable'; readonly why: string }

/**
 * A preset by its name, for tools that have no configuration. `cloud-tasks` is `cloudTasks`.
 * @param options by their names in the configuration, as text
 */
export function createNamedPreset(name: string, options: ReadonlyMap<string, string>): NamedPreset {
  const known = PRESET_NAMES.find((one) => plain(one) === plain(name))
  const entry = known === undefined ? undefined : CATALOGUE[known]
  if (known === undefined || entry === undefined) return { kind: 'unknown' }
  const read = readOptions(known, entry, options)
  if (typeof read === 'string') return { kind: 'unusable', why: read }
  try {
    const preset = entry.make(read as never)
    const wrong = preset.notes.find(({ severity }) => severity === 'error')
    if (wrong === undefined) return { kind: 'preset', preset }
    return { kind: 'unusable', why: `${wrong.option.replace('preset.', 'option ')} ${wrong.message}` }
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'unusable', why: error.message }
    throw error
  }
}

function readOptions(
  name: string,
  entry: Entry,
  options: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> | string {
  const values: Record<string, unknown> = {}
  for (const [option, text] of options) {
    const form = Object.hasOwn(entry.options, option) ? entry.options[option] : undefined
    if (form === undefined) {
      const all = Object.keys(entry.options)
      return `${name} has no option ${option}; ${all.length === 0 ? 'it has none' : `it has ${all.join(', ')}`}`
    }
    const read = readPresetOption(form, text)
    if (read.kind === 'wrong') return `option ${option} ${read.why}`
    values[option] = read.value
  }
  return values
}

function plain(name: string): string {
  return name.replaceAll(/[-_ ]/g, '').toLowerCase()
}
