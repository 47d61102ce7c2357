const PUNCTUATION = '{}[],:'
const SPACE = ' \t\n\r'

/** The tokens of a JSON text as they are written, without the space between them. A loop: a pattern fails on long texts. */
export function listJsonTokens(json: string): readonly string[] {
  const tokens: string[] = []
  let at = 0
  while (at < json.length) {
    const character = json.charAt(at)
    if (SPACE.includes(character)) {
      at += 1
      continue
    }
    const end = endOfToken(json, at, character)
    tokens.push(json.slice(at, end))
    at = end
  }
  return tokens
}

function endOfToken(json: string, start: number, first: string): number {
  if (PUNCTUATION.includes(first)) return start + 1
  let at = start + 1
  if (first === '"') {
    while (at < json.length && json.charAt(at) !== '"') at += json.charAt(at) === '\\' ? 2 : 1
    return at + 1
  }
  while (at < json.length && !`${PUNCTUATION}${SPACE}"`.includes(json.charAt(at))) at += 1
  return at
}
