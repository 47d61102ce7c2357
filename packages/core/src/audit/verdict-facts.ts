import type { ArrivalTimeline, DeliveryTimeline, EntryTimeline } from './timeline.js'

/** What a verdict is judged from: one business action, a delivery without any, an id that was never claimed, nothing. */
export type VerdictFacts =
  | { readonly kind: 'entry'; readonly entry: EntryTimeline; readonly readAt: number }
  | { readonly kind: 'no_actions'; readonly timeline: DeliveryTimeline }
  | { readonly kind: 'never_claimed'; readonly arrivals: ArrivalTimeline }
  | {
      readonly kind: 'nothing'
      /** What was asked for, as typed. */
      readonly query: string
      /** The claim with the oldest time that is still kept, epoch ms; `null`: there is none at all. */
      readonly earliestKeptAt: number | null
    }
