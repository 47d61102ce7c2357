/**
 * What a terminal would obey instead of showing: C0 and C1 controls (ESC, BEL, CR, LF, CSI …), bidirectional controls
 * that reorder what is read, line separators, zero-width characters and lone surrogates.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Makes outside text safe to print: one line, nothing hidden, every control visible as `\x1b` or `\u202e`. */
export function escapeForTerminal(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}
