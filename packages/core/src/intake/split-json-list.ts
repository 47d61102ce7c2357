import { listJsonMembers, skipSpace } from './json-members.js'
import { malformed } from './malformed.js'
import type { Split, SplitPush } from './split.js'

/** Event Grid's largest batch; more than any other sender puts into one push. */
export const MAX_SLICES = 5000

/**
 * One delivery per element of a JSON list, with the bytes of that element as they were sent.
 *
 * @param whole what a document is that is no list: a delivery of its own, or a mistake
 */
export function splitJsonList(whole: 'is_one' | 'is_malformed'): Split {
  return (document, json) => {
    if (Array.isArray(document)) return sliceList(json, document.length)
    return whole === 'is_one' ? { kind: 'whole' } : malformed('batch_not_a_list', 'the body is not a JSON list')
  }
}

function sliceList(json: Buffer, length: number): SplitPush {
  if (length === 0) return malformed('batch_empty', 'the list has no element')
  if (length > MAX_SLICES) return malformed('batch_too_large', `the list has more than ${MAX_SLICES} elements`)
  const members = listJsonMembers(json, skipSpace(json, 0)) ?? []
  return { kind: 'slices', slices: members.map(({ valueStart, end }) => json.subarray(valueStart, end)) }
}
