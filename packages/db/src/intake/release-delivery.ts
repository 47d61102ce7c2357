import type { Disposition } from '@counterfoil/core'
import type { ClientBase } from 'pg'

export type ReleaseResult =
  | { readonly kind: 'released'; readonly outcome: string | null; readonly destinations: readonly string[] }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_quarantined' }
  | { readonly kind: 'already_released' }

/** Gives a quarantined delivery what it asks for, inside the caller's open transaction, which recorded the act (I9). */
export function releaseDelivery(
  _client: ClientBase,
  _deliveryUuid: string,
  _disposition: Extract<Disposition, { kind: 'act' }>,
): Promise<ReleaseResult> {
  return Promise.reject(new Error('releaseDelivery is being built'))
}
