export type TimelineEventKind =
  | 'arrival'
  | 'answer'
  | 'claim'
  | 'transition'
  | 'queued'
  | 'attempt'
  | 'late_outcome'
  | 'finding'
  | 'next'
  | 'act'

/** One line of the timeline. `text` is plain and may hold outside text: whoever shows it escapes it. */
export type TimelineEvent = {
  readonly at: number
  readonly kind: TimelineEventKind
  readonly text: string
  /** Further facts, shown smaller: keys, digests, workers. */
  readonly facts: readonly string[]
  /** The entry that it is about. */
  readonly entry: string | null
  /** Something a reader should not overlook. */
  readonly flagged: boolean
}
