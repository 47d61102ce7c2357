export type SignatureEncoding = 'hex' | 'base64'

const HEX = /^[0-9a-f]+$/i
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The bytes of a signature of a known length, decoded strictly: no white space, no junk, no second spelling. */
export function decodeSignature(text: string, encoding: SignatureEncoding, length: number): Buffer | null {
  if (encoding === 'hex') return text.length === length * 2 && HEX.test(text) ? Buffer.from(text, 'hex') : null
  if (text.length !== Math.ceil(length / 3) * 4 || !BASE64.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  // The last character can carry unused bits: only the spelling with zeros is canonical.
  return bytes.length === length && bytes.toString('base64') === text ? bytes : null
}
