/** One delivery as its sender lists it. */
export type ListedDelivery = {
  /** The sender's id, as we store it. */
  readonly id: string
  /** When the sender says that it pushed it, epoch ms; `null`: it doesn't say. */
  readonly at: number | null
  /** What the sender believes became of it. */
  readonly believed: 'delivered' | 'failed' | 'unknown'
}

/** What is here of a listed delivery. */
export type Presence =
  | { readonly kind: 'claimed'; readonly claimedAt: number }
  /** It arrived with a valid signature, and was never claimed. */
  | { readonly kind: 'never_claimed' }
