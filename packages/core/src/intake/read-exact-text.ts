import { endOfJsonValue, listJsonMembers, skipSpace } from './json-members.js'
import { parsePointer } from './json-pointer.js'

/**
 * What a JSON document says at a pointer, without rounding: a string's text, else the bytes of the value as they were
 * sent, so that `7615917337495251231` keeps its last digits. `null` when nothing is there. Of duplicate keys the last
 * one counts, as in `JSON.parse`.
 */
export function readExactText(json: Buffer, pointer: string): string | null {
  const tokens = parsePointer(pointer)
  if (tokens === null || json.length === 0) return null
  let at = skipSpace(json, 0)
  for (const token of tokens) {
    const member = listJsonMembers(json, at)?.findLast((candidate) => candidate.token === token)
    if (member === undefined) return null
    at = member.valueStart
  }
  const text = json.toString('utf8', at, endOfJsonValue(json, at))
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
