/** From least to most certain; a delivery with several entries is headed by the first that applies. */
export const VERDICT_KINDS = [
  'unknown',
  'possibly_delivered_more_than_once',
  'not_delivered_yet',
  'not_delivered',
  'delivered_repeat_ignored',
  'delivered_once',
  'quarantined',
  'waiting',
  'never_queued',
  'no_record',
  'nothing_to_do',
  'ignored',
  'done',
] as const
export type VerdictKind = (typeof VERDICT_KINDS)[number]

/** What a person may do now. `name` is for programs, `text` for people; a redrive is safe only where it says so. */
export type Advice = {
  readonly name: 'nothing' | 'wait' | 'settle' | 'redrive' | 'resume' | 'release' | 'ask_source' | 'check' | 'doctor'
  readonly text: string
  /** What to type, ready to be copied and completed. */
  readonly command: string | null
  readonly redrive: { readonly safe: boolean; readonly why: string }
}

/** The answer that support reads. Made here only; console, API and CLI render it. */
export type Verdict = {
  readonly kind: VerdictKind
  /** Two to five words: one label per kind, completed where the kind has variants. */
  readonly label: string
  /** What is known, in one or two plain sentences. */
  readonly sentence: string
  readonly advice: Advice
}

/** The four numbers: repeated pushes are normal, and must not look like a double action. */
export type Counters = {
  /** Authenticated arrivals. */
  readonly pushes: number
  /** Of these, absorbed as repeats of what was already claimed. */
  readonly repeats: number
  /** Tries to send on record, the one in flight included. */
  readonly attempts: number
  /** Attempts that the destination said yes to. */
  readonly confirmed: number
  /** Attempts whose effect is still unknown. */
  readonly unknown: number
}

export const VERDICT_LABELS: Readonly<Record<VerdictKind, string>> = {
  unknown: 'Unknown',
  possibly_delivered_more_than_once: 'Possibly delivered more than once',
  not_delivered_yet: 'Not delivered yet',
  not_delivered: 'Not delivered',
  delivered_repeat_ignored: 'Delivered, repeat ignored',
  delivered_once: 'Delivered once',
  quarantined: 'Quarantined',
  waiting: 'Waiting',
  never_queued: 'Never queued',
  no_record: 'No record',
  nothing_to_do: 'Nothing to do',
  ignored: 'Ignored',
  done: 'Done',
}
