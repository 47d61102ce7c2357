/** Longest text kept of an error: enough for every address of a name, too little for a payload. */
const MESSAGE_CHARS = 300

/** The code and the text of a network error, for the record and for people. Never decides anything by itself. */
export function describeFailure(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', message: 'something that is no error was thrown' }
  // HTTPParserError has no code that names it (undici 7.30), so its name stands in.
  const own = 'code' in error && typeof error.code === 'string' ? error.code : null
  const code = own ?? error.name
  // Several addresses tried: Node keeps them in an AggregateError whose own message is empty.
  const parts = error instanceof AggregateError ? error.errors.map(textOf) : [textOf(error)]
  return { code, message: parts.join('; ').slice(0, MESSAGE_CHARS) }
}

function textOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'no message'
}
