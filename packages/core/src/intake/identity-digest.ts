import { createHash, type Hash } from 'node:crypto'
import { endOfJsonValue, type JsonMember, listJsonMembers, skipSpace } from './json-members.js'
import { parsePointer } from './json-pointer.js'

/** A tree of pointers: `cut` ends one, children lead further down. */
type Cuts = { cut: boolean; readonly children: Map<string, Cuts> }

/**
 * What must be equal for two arrivals to be the same delivery: SHA-256 of the raw bytes or, where a source declares
 * volatile fields, of the bytes without them. The fields are cut out of the bytes instead of being dropped from a
 * parsed copy, so that no number is rounded and no text is re-escaped. A member is cut with its name: a field that only
 * repeats carry makes no difference. On the path to a volatile field white space between members doesn't count.
 * A body that is not JSON is digested as it is.
 *
 * @param json the JSON in the body, without a BOM; `null` when there is none
 */
export function computeIdentityDigest(raw: Buffer, json: Buffer | null, volatilePointers: readonly string[]): Buffer {
  const hash = createHash('sha256')
  if (volatilePointers.length === 0 || json === null || json.length === 0) {
    return hash.update(raw).digest()
  }
  digestValue(hash, json, skipSpace(json, 0), collectCuts(volatilePointers))
  return hash.digest()
}

function collectCuts(pointers: readonly string[]): Cuts {
  const root: Cuts = { cut: false, children: new Map() }
  for (const pointer of pointers) {
    let node = root
    for (const token of parsePointer(pointer) ?? []) {
      const child = node.children.get(token) ?? { cut: false, children: new Map() }
      node.children.set(token, child)
      node = child
    }
    node.cut = node !== root
  }
  return root
}

function digestValue(hash: Hash, bytes: Buffer, at: number, cuts: Cuts | undefined): void {
  const members = cuts !== undefined && cuts.children.size > 0 ? listJsonMembers(bytes, at) : null
  if (members === null) {
    hash.update(bytes.subarray(at, endOfJsonValue(bytes, at)))
    return
  }
  const opener = bytes.subarray(at, at + 1)
  hash.update(opener)
  let separator = ''
  for (const member of members) {
    const below = cuts?.children.get(member.token)
    if (below?.cut) continue
    hash.update(separator)
    digestName(hash, bytes, member)
    digestValue(hash, bytes, member.valueStart, below)
    separator = ','
  }
  hash.update(opener[0] === 0x7b ? '}' : ']')
}

function digestName(hash: Hash, bytes: Buffer, member: JsonMember): void {
  if (member.start === member.valueStart) return
  hash.update(bytes.subarray(member.start, member.valueStart))
}
