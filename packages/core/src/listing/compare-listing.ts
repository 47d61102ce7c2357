import type { ListedDelivery, Presence } from './listed-delivery.js'

/** A delivery that is listed more than once, with what all of that says together. */
export function foldListed(earlier: ListedDelivery | undefined, next: ListedDelivery): ListedDelivery {
  if (earlier === undefined) return next
  const ats = [earlier.at, next.at].filter((at) => at !== null)
  const believed = [earlier.believed, next.believed]
  return {
    id: next.id,
    at: ats.length === 0 ? null : Math.min(...ats),
    // One push that worked is enough: the others were its repeats.
    believed: believed.includes('delivered') ? 'delivered' : believed.includes('failed') ? 'failed' : 'unknown',
  }
}

export type ListingDifference = {
  /** Listed there, no trace here: never queued. */
  readonly missing: readonly ListedDelivery[]
  /** Listed there, arrived here with a valid signature, never claimed. */
  readonly neverClaimed: readonly ListedDelivery[]
  /** Failed there by the sender's belief, claimed here: its answer got lost, and it will come again. */
  readonly failedThere: readonly ListedDelivery[]
  /** Claimed here, and nothing contradicts it. */
  readonly agreed: number
}

/** Compares one batch of a sender's list with what is here of it. Pure. */
export function compareListing(
  listed: readonly ListedDelivery[],
  here: ReadonlyMap<string, Presence>,
): ListingDifference {
  const missing: ListedDelivery[] = []
  const neverClaimed: ListedDelivery[] = []
  const failedThere: ListedDelivery[] = []
  let agreed = 0
  for (const one of listed) {
    const presence = here.get(one.id)
    if (presence === undefined) missing.push(one)
    else if (presence.kind === 'never_claimed') neverClaimed.push(one)
    else if (one.believed === 'failed') failedThere.push(one)
    else agreed += 1
  }
  return { missing, neverClaimed, failedThere, agreed }
}
