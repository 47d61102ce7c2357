import type { Scheme, SourceContract } from '@counterfoil/core'
import type { Preset, PresetContract, PresetNote } from '../preset.js'

const SECOND_MS = 1_000
const DAY_MS = 86_400_000
const USUAL_DEADLINE_MS = 2_500

/** What most senders have; a preset says only what differs. */
const USUAL = {
  decode: 'json',
  split: null,
  handshakes: [],
  senderAttempt: null,
  eventType: null,
  eventTime: null,
  orderingKey: null,
  volatilePointers: [],
  answers: {},
  bodyLimitBytes: 1_048_576,
} as const satisfies Partial<PresetContract>

export type PresetDraft = Pick<PresetContract, 'deliveryId'> &
  Partial<Omit<PresetContract, 'ack' | 'redeliveryHorizonMs'>> & {
    readonly name: string
    readonly scheme: Scheme
    readonly horizonDays: number
    readonly ack: Partial<SourceContract['ack']> & { readonly timeoutS: number }
    readonly notes?: readonly PresetNote[]
  }

export function definePreset(draft: PresetDraft): Preset {
  const { name, scheme, horizonDays, ack, notes = [], ...contract } = draft
  const { timeoutS, ...answer } = ack
  return {
    name,
    scheme,
    notes,
    contract: {
      ...USUAL,
      ...contract,
      redeliveryHorizonMs: horizonDays * DAY_MS,
      ack: {
        status: 204,
        body: null,
        fixedBody: null,
        senderTimeoutMs: timeoutS * SECOND_MS,
        deadlineMs: Math.min(USUAL_DEADLINE_MS, (timeoutS * SECOND_MS) / 2),
        onConflict: 'accept',
        onMalformed: 'refuse_400',
        ...answer,
      },
    },
  }
}

/** For senders that repeat a refused push for as long as they keep it: what can never be used is kept with us instead. */
export const KEPT_HERE = { onConflict: 'accept', onMalformed: 'quarantine' } as const
