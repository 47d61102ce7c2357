import { basename } from 'node:path'

const PLACE = /\((\d+):(\d+)\)|:(\d+):(\d+)/

/** One sentence on why a configuration file could not be loaded: file, line where known, and what to do. */
export function describeLoadFailure(path: string, failure: unknown): string {
  const { message, stack } = failure instanceof Error ? failure : { message: String(failure), stack: undefined }
  const [firstLine = ''] = message.split('\n')
  const line = findLine(path, message, stack ?? '')
  const where = line === null ? path : `${path}, line ${line}`
  const what = firstLine
    .replace(/^.*?Error: /, '')
    .replaceAll(path, basename(path))
    // How a transpiled import is called: `(0 , _config.hmacBdy) is not a function`.
    .replace(/\(0\s*,\s*[\w$]+\.([\w$]+)\)/, '$1')
    .trim()
  return `the configuration can't be loaded (${where}): ${what || 'it threw without a message'}; correct the file and run \`counterfoil config check\``
}

/** A syntax error tells its place in the message, any other in the first frame that is in the file itself. */
function findLine(path: string, message: string, stack: string): number | null {
  const frame = stack.split('\n').find((text) => text.includes(path) && PLACE.test(text.slice(text.indexOf(path))))
  const texts = [message, frame === undefined ? '' : frame.slice(frame.indexOf(path) + path.length)]
  for (const text of texts) {
    const match = PLACE.exec(text)
    if (match !== null) return Number(match[1] ?? match[3])
  }
  return null
}
