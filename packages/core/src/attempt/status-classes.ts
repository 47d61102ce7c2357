import type { RejectedReason } from './outcome.js'

/** What a status proves, before the contract has its say. */
export type StatusVerdict =
  /** `repeat` where the answer itself says that the key had been seen. */
  | { readonly kind: 'accepted'; readonly repeat?: true }
  /** `decidesEarlier`: this no holds for earlier attempts under the same key as well. */
  | { readonly kind: 'rejected'; readonly reason: RejectedReason; readonly decidesEarlier?: true }
  | { readonly kind: 'unauthorised' }
  | { readonly kind: 'deferred' }
  | { readonly kind: 'not_processed' }
  /** `retryTellsNothing`: the same key would only bring the same answer again, so it is held. */
  | { readonly kind: 'uncertain'; readonly cause: string; readonly retryTellsNothing?: true }
  /** The status alone means opposite things: with a key the same request is still being worked on. */
  | { readonly kind: 'in_progress_with_key' }

/** A status, or [from, to] inclusive. */
export type StatusRange = number | readonly [from: number, to: number]

/** One row of the table: `docs/` is written from it, so `why` is for readers. */
export type StatusClass = {
  readonly statuses: readonly StatusRange[]
  readonly verdict: StatusVerdict
  readonly why: string
}

/** The first row that names a status decides. The last two rows make it total. */
export const STATUS_CLASSES: readonly StatusClass[] = [
  {
    statuses: [207],
    verdict: { kind: 'uncertain', cause: 'partial_success', retryTellsNothing: true },
    why: 'Only the body knows which part succeeded.',
  },
  { statuses: [[200, 299]], verdict: { kind: 'accepted' }, why: 'Applied, or taken over by a queue of its own (202).' },
  {
    statuses: [[300, 399]],
    verdict: { kind: 'rejected', reason: 'redirected' },
    why: 'The endpoint moved. A redirect is never followed with a business action.',
  },
  {
    statuses: [401, 402, 403, 407],
    verdict: { kind: 'unauthorised' },
    why: 'Credentials, account or permission: nothing was processed, and no entry is to blame.',
  },
  {
    statuses: [408],
    verdict: { kind: 'uncertain', cause: 'request_timeout' },
    why: 'The server gave up reading or working; nobody knows which.',
  },
  {
    statuses: [409],
    verdict: { kind: 'in_progress_with_key' },
    why: 'With a key: the first request is still at work. Without one: refused.',
  },
  { statuses: [410], verdict: { kind: 'rejected', reason: 'gone' }, why: 'Gone on purpose: the destination stops.' },
  {
    statuses: [421, 423, 425, 507],
    verdict: { kind: 'not_processed' },
    why: 'Misdirected, locked, too early or no storage: work had not begun.',
  },
  { statuses: [429], verdict: { kind: 'deferred' }, why: 'Refused before any work.' },
  { statuses: [503], verdict: { kind: 'deferred' }, why: 'Shed before any work.' },
  {
    statuses: [501, 505, 506, 508, 510, 511],
    verdict: { kind: 'rejected', reason: 'refused' },
    why: "The request can't ever succeed as it is.",
  },
  {
    statuses: [500],
    verdict: { kind: 'uncertain', cause: 'server_error' },
    why: 'Work may have begun before it failed.',
  },
  {
    statuses: [502, 504, 520, 522, 524],
    verdict: { kind: 'uncertain', cause: 'gateway_lost_upstream' },
    why: 'A gateway lost its upstream during or after forwarding.',
  },
  {
    statuses: [521, 523, 525, 526, 530],
    verdict: { kind: 'not_processed' },
    why: 'An edge that never reached the origin.',
  },
  {
    statuses: [[400, 499]],
    verdict: { kind: 'rejected', reason: 'refused' },
    why: 'Refused; sending the same again is refused again.',
  },
  {
    statuses: [[500, 599]],
    verdict: { kind: 'uncertain', cause: 'server_error' },
    why: 'An unknown server error may have come after the work.',
  },
]

/** Anything that is no final HTTP status: the protocol broke after we sent. */
const NO_FINAL_STATUS: StatusVerdict = { kind: 'uncertain', cause: 'not_a_final_status' }

/** Total: every number has a verdict, and what is not known falls to the safe side. */
export function judgeStatus(status: number): StatusVerdict {
  return (
    STATUS_CLASSES.find((row) => row.statuses.some((range) => coversStatus(range, status)))?.verdict ?? NO_FINAL_STATUS
  )
}

export function coversStatus(range: StatusRange, status: number): boolean {
  if (typeof range === 'number') return range === status
  return Number.isInteger(status) && status >= range[0] && status <= range[1]
}
