const NUL_OR_LONE_SURROGATE = /\0|\p{Surrogate}/gu
const REPLACEMENT = '\ufffd'

/** Can PostgreSQL hold this text as it is, and does it mean the same in UTF-8? */
export function isStorableText(text: string): boolean {
  return text.search(NUL_OR_LONE_SURROGATE) === -1
}

/** Storable text of at most `maxBytes` of UTF-8, cut between characters; NUL and lone surrogates become U+FFFD. */
export function sanitiseText(text: string, maxBytes: number): string {
  const storable = text.replace(NUL_OR_LONE_SURROGATE, REPLACEMENT)
  if (Buffer.byteLength(storable) <= maxBytes) return storable
  const bytes = Buffer.from(storable)
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
