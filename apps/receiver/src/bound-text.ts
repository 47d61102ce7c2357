const MAX_CHARACTERS = 128
const PLAIN = /^[\x20-\x7e]*$/
/** Controls (C0, C1, DEL), line separators, and marks that turn the reading direction or are invisible. */
const TREACHEROUS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu

/** Text from outside for a log line: bounded, and nothing in it can drive a terminal or fake another line. */
export function boundText(text: string): string {
  const bounded = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}… (${text.length})` : text
  if (PLAIN.test(bounded)) return bounded
  return bounded.replace(TREACHEROUS, (mark) => `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`)
}
