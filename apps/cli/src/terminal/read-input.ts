import { createReadStream } from 'node:fs'
import { CommandFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'
import type { Terminal } from './terminal.js'

/** Twice the largest body that a source may take. */
const MAX_BYTES = 33_554_432

/** All bytes of a file, `-` for stdin; ends the command where it can't be read or is larger than any push. */
export async function readInput(terminal: Terminal, file: string): Promise<Buffer> {
  const what = file === '-' ? 'stdin' : file
  try {
    const chunks: Buffer[] = []
    let total = 0
    for await (const chunk of file === '-' ? terminal.stdin : createReadStream(file)) {
      chunks.push(Buffer.from(chunk))
      total += chunk.length
      if (total > MAX_BYTES) throw new CommandFailure(EXIT.usage, `${what} is larger than ${MAX_BYTES} bytes`)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new CommandFailure(EXIT.usage, `${what} can't be read: ${code}`)
  }
}
