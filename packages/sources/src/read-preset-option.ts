/** How an option of a preset is written as text. */
export type OptionForm =
  /** One or more, separated by commas. */
  | 'texts'
  | 'flag'
  | 'milliseconds'
  /** A `WebhookAuth` in JSON, as in the configuration. */
  | 'auth'
  /** `basic`, or the name of a header. */
  | 'authorization'
  /** One of these. */
  | readonly string[]

export type ReadOption =
  | { readonly kind: 'value'; readonly value: unknown }
  /** Completes "option x …". */
  | { readonly kind: 'wrong'; readonly why: string }

export function readPresetOption(form: OptionForm, text: string): ReadOption {
  if (typeof form !== 'string') {
    return form.includes(text) ? found(text) : { kind: 'wrong', why: `is one of ${form.join(', ')}` }
  }
  switch (form) {
    case 'texts':
      return found(
        text
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== ''),
      )
    case 'flag':
      return text === 'true' || text === 'false' ? found(text === 'true') : { kind: 'wrong', why: 'is true or false' }
    case 'milliseconds':
      return /^\d{1,12}$/.test(text) ? found(Number(text)) : { kind: 'wrong', why: 'is a number of milliseconds' }
    case 'auth':
      return readAuth(text)
    case 'authorization':
      return found(text === 'basic' ? text : { header: text.toLowerCase() })
  }
}

/** What each kind can't be without; the rest is judged by the preset. */
const AUTH_NEEDS = new Map([
  ['header', ['header']],
  ['query', ['parameter']],
  ['entra', ['tenant']],
  ['google', []],
])

function readAuth(text: string): ReadOption {
  const auth = parseObject(text)
  if (auth === null) return { kind: 'wrong', why: 'is an object in JSON, such as {"kind":"header","header":"x-key"}' }
  const kind = AUTH_NEEDS.get(String(auth.kind))
  if (kind === undefined) return { kind: 'wrong', why: `has as kind one of ${[...AUTH_NEEDS.keys()].join(', ')}` }
  const missing = kind.find((name) => typeof auth[name] !== 'string')
  if (missing !== undefined) return { kind: 'wrong', why: `needs ${missing} as a text` }
  for (const name of ['audience', 'applications', 'serviceAccounts']) {
    const list = auth[name]
    if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === 'string'))) {
      return { kind: 'wrong', why: `has ${name} as a list of texts` }
    }
  }
  return found(auth)
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}

function found(value: unknown): ReadOption {
  return { kind: 'value', value }
}
