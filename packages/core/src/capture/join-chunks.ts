const SIZE_LINE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i

/** The body inside chunked framing (RFC 9112, 7.1), line ends CRLF or LF; `null` when this is no such framing. */
export function joinChunks(framed: Buffer): Buffer | null {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const end = framed.indexOf(0x0a, at)
    if (end === -1) return null
    const size = SIZE_LINE.exec(framed.toString('latin1', at, end).replace(/\r$/, ''))?.[1]
    if (size === undefined) return null
    const length = Number.parseInt(size, 16)
    // Trailers may follow: nothing that a verifier looks at.
    if (length === 0) return Buffer.concat(chunks)
    const from = end + 1
    if (from + length > framed.length) return null
    chunks.push(framed.subarray(from, from + length))
    at = from + length
    if (framed[at] === 0x0d) at += 1
    if (framed[at] !== 0x0a) return null
    at += 1
  }
}
