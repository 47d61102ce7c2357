/** The receiver makes a delivery's id by its own clock, which may be off the database's. */
const CLOCK_SLACK_MS = 10 * 60_000

/** UUIDv7 starts with its milliseconds: the bounds let the primary key leave out what is too old or too new. */
export function lowerBound(since: number | null): string {
  return since === null ? '00000000-0000-0000-0000-000000000000' : uuidOfMs(since - CLOCK_SLACK_MS)
}

export function upperBound(until: number | null): string {
  return until === null ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : uuidOfMs(until + CLOCK_SLACK_MS)
}

function uuidOfMs(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}
