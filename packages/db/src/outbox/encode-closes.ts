import {
  encodeBooleans,
  encodeBuffers,
  encodeIntegers,
  encodeNumbers,
  encodeTexts,
  encodeUuids,
} from '../connection/encode-array.js'
import type { CloseRow } from './close-row.js'

/**
 * Closes as a table `i` of a statement whose first parameters are `encodeCloses`. As one JSON document the server spent
 * 14 of 55 µs a close on reading it.
 */
export const CLOSE_INPUT = `unnest(
    $1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::int[], $6::boolean[], $7::text[], $8::text[], $9::int[],
    $10::text[], $11::bytea[], $12::text[], $13::text[], $14::boolean[], $15::boolean[], $16::boolean[], $17::text[],
    $18::float8[], $19::text[], $20::float8[]
  ) AS i (
    entry, token, attempt, outcome, status, repeat, cause, detail, duration_ms, key_sent, digest_sent, decision,
    decision_reason, spends, takes_back, in_doubt, final_state, due_in_ms, pause_reason, pause_ms
  )`

/** The parameters of `CLOSE_INPUT`, in its order. */
export function encodeCloses(rows: readonly CloseRow[]): Buffer[] {
  return [
    encodeUuids(rows.map((row) => row.entry)),
    encodeUuids(rows.map((row) => row.token)),
    encodeIntegers(rows.map((row) => row.attempt)),
    encodeTexts(rows.map((row) => row.outcome)),
    encodeIntegers(rows.map((row) => row.status)),
    encodeBooleans(rows.map((row) => row.repeat)),
    encodeTexts(rows.map((row) => row.cause)),
    encodeTexts(rows.map((row) => row.detail)),
    encodeIntegers(rows.map((row) => row.duration_ms)),
    encodeTexts(rows.map((row) => row.key_sent)),
    encodeBuffers(rows.map((row) => row.digest_sent)),
    encodeTexts(rows.map((row) => row.decision)),
    encodeTexts(rows.map((row) => row.decision_reason)),
    encodeBooleans(rows.map((row) => row.spends)),
    encodeBooleans(rows.map((row) => row.takes_back)),
    encodeBooleans(rows.map((row) => row.in_doubt)),
    encodeTexts(rows.map((row) => row.final_state)),
    encodeNumbers(rows.map((row) => row.due_in_ms)),
    encodeTexts(rows.map((row) => row.pause_reason)),
    encodeNumbers(rows.map((row) => row.pause_ms)),
  ]
}
