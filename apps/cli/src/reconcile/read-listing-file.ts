import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  foldListed,
  type ListedDelivery,
  type ListingFormat,
  readGithubDelivery,
  readListedLine,
  readListedObject,
} from '@counterfoil/core'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'

/** Ids of one comparison: about 200 MB at most. A longer list is compared in parts, by time. */
const MOST_IDS = 1_000_000

type Read = ListedDelivery | 'none' | 'unreadable'

/** A sender's own list of deliveries, each id once. `-` is stdin. Ends the command at the first thing it can't read. */
export async function readListingFile(
  path: string,
  format: ListingFormat,
  stdin: Readable,
): Promise<ReadonlyMap<string, ListedDelivery>> {
  const listed = new Map<string, ListedDelivery>()
  const keep = (read: Read, where: string): void => {
    if (read === 'none') return
    if (read === 'unreadable') throw unreadable(path, where)
    listed.set(read.id, foldListed(listed.get(read.id), read))
    if (listed.size > MOST_IDS) {
      const next = 'compare it in parts: lists of a shorter time, one after another'
      throw new CommandFailure(EXIT.usage, `${path} lists more than ${MOST_IDS} deliveries`, next)
    }
  }
  const stream = path === '-' ? stdin : createReadStream(path)
  try {
    if (format === 'github') await readGithub(stream, keep)
    else await readLines(stream, format === 'lines' ? readListedLine : readJsonLine, keep)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw new CommandFailure(EXIT.usage, `${path} can't be read: ${String(error.code)}`, 'check --list')
  }
  return listed
}

async function readLines(stream: Readable, read: (line: string) => Read, keep: (read: Read, where: string) => void) {
  // An error of the file is an event of its own, which ends no readline.
  let failed: Error | null = null
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
  stream.once('error', (error: Error) => {
    failed = error
    lines.close()
  })
  let number = 0
  for await (const line of lines) {
    number += 1
    keep(read(line), `line ${number}`)
  }
  if (failed !== null) throw failed
}

function readJsonLine(line: string): Read {
  if (line.trim() === '') return 'none'
  try {
    return readListedObject(JSON.parse(line))
  } catch {
    return 'unreadable'
  }
}

/** One page of the API, several slurped into a list, or one delivery a line. */
async function readGithub(stream: Readable, keep: (read: Read, where: string) => void): Promise<void> {
  const text = (await buffer(stream)).toString('utf8')
  const whole = parse(text)
  if (whole !== undefined) {
    const pages = Array.isArray(whole) ? whole : [whole]
    for (const [index, one] of pages.flat().entries()) keep(readGithubDelivery(one), `delivery ${index + 1}`)
    return
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() !== '') keep(readGithubDelivery(parse(line)), `line ${index + 1}`)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unreadable(path: string, where: string): CommandFailure {
  const next = 'check --format: docs/reconciliation.md shows what each of them looks like'
  return new CommandFailure(EXIT.usage, `${path}, ${where}: this is no delivery`, next)
}
