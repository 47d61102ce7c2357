import type { Handshake, HandshakeAnswer, HandshakeInput } from './handshake.js'

/** The first handshake of this moment and method that knows the request; `null`: it is none. */
export function answerHandshake(
  handshakes: readonly Handshake[],
  when: Handshake['when'],
  input: HandshakeInput,
): HandshakeAnswer | null {
  for (const handshake of handshakes) {
    if (handshake.when !== when || !handshake.methods.includes(input.request.method)) continue
    const answer = handshake.answer(input)
    if (answer !== null) return answer
  }
  return null
}

/** Methods that a source knows: POST, and those of its handshakes. */
export function listMethods(handshakes: readonly Handshake[]): readonly string[] {
  return [...new Set(['POST', ...handshakes.flatMap(({ methods }) => methods)])]
}
