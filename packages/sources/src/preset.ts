import type { Scheme, SourceContract } from '@counterfoil/core'

/** Contents of a contract that a sender's own documentation decides; the rest is the owner's choice. */
export type PresetContract = Pick<
  SourceContract,
  | 'decode'
  | 'split'
  | 'handshakes'
  | 'deliveryId'
  | 'senderAttempt'
  | 'eventType'
  | 'eventTime'
  | 'orderingKey'
  | 'volatilePointers'
  | 'answers'
  | 'bodyLimitBytes'
  | 'redeliveryHorizonMs'
> & { readonly ack: SourceContract['ack'] }

/** Something about a sender that its owner should know, in plain words with the consequence. */
export type PresetNote = {
  readonly severity: 'error' | 'warning'
  /** The option that it is about, as in the configuration. */
  readonly option: string
  readonly message: string
}

/** Everything that one name in the configuration stands for. */
export type Preset = {
  readonly name: string
  readonly scheme: Scheme
  readonly contract: PresetContract
  readonly notes: readonly PresetNote[]
}
