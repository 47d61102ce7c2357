/** How an option of a preset is written as text. */
export type OptionForm =
  /** One or more, separated by commas. */
  | 'texts'
  | 'flag'
  | 'milliseconds'
  /** An object in JSON, as in the configuration; `basic` and the like as they are. */
  | 'json'
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
    case 'json':
      return readJson(text)
  }
}

function readJson(text: string): ReadOption {
  if (!text.startsWith('{')) return found(text)
  try {
    return found(JSON.parse(text))
  } catch {
    return { kind: 'wrong', why: 'is no JSON' }
  }
}

function found(value: unknown): ReadOption {
  return { kind: 'value', value }
}
