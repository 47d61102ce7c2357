import { classifyFailure } from '../connection/index.js'
import type { CloseRow } from './close-row.js'

import type { CloseResults } from './run-close.js'

type Run = (rows: readonly CloseRow[]) => Promise<CloseResults>

const BARE_DETAIL = 'The details of this attempt could not be stored.'

/**
 * Runs a batch, and on a data error halves it until the one close that fails stands alone. That one is tried again
 * without the text that came from outside; what is refused even then has no result.
 *
 * @throws anything that is not a data error, at once: the whole batch may be repeated, for what landed is recognised
 */
export async function closeInHalves(rows: readonly CloseRow[], run: Run): Promise<CloseResults> {
  try {
    return await run(rows)
  } catch (error) {
    if (classifyFailure(error).kind !== 'data') throw error
  }
  const [only] = rows
  if (rows.length > 1) {
    const middle = rows.length >> 1
    const first = await closeInHalves(rows.slice(0, middle), run)
    return new Map([...first, ...(await closeInHalves(rows.slice(middle), run))])
  }
  return only === undefined || only.detail === BARE_DETAIL ? new Map() : closeInHalves([withoutText(only)], run)
}

function withoutText(row: CloseRow): CloseRow {
  return { ...row, detail: BARE_DETAIL, duration_ms: null, key_sent: null, digest_sent: null }
}
