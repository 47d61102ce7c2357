import { assembleCapture, type Capture, parseCapture } from '@counterfoil/core'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { readInput } from '../terminal/read-input.js'
import type { Terminal } from '../terminal/terminal.js'

export type CaptureOptions = { headers?: string; body?: string; method: string; url?: string }

/** The captured request, from one file or from its parts; ends the command where it is none. */
export async function readCapture(
  terminal: Terminal,
  file: string | undefined,
  options: CaptureOptions,
  path: string,
): Promise<Capture> {
  const read = await readParts(terminal, file, options, path)
  if (read.kind === 'captured') return read
  throw new CommandFailure(EXIT.usage, `the capture can't be read: ${read.why}`)
}

async function readParts(terminal: Terminal, file: string | undefined, options: CaptureOptions, path: string) {
  const { headers, body, method, url } = options
  if (headers === undefined && body === undefined) return parseCapture(await readInput(terminal, file ?? '-'))
  if (file !== undefined || headers === undefined || body === undefined || headers === body) {
    throw new CommandFailure(EXIT.usage, 'give the capture as one file (- is stdin), or as --headers and --body')
  }
  const target = url === undefined ? path : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/'
  return assembleCapture(method, target, await readInput(terminal, headers), await readInput(terminal, body))
}
