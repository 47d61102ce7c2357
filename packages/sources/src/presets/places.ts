import type { DeliveryIdAt, IdPart, ValueAt } from '@counterfoil/core'

export const header = (name: string): ValueAt => ({ kind: 'header', header: name })
export const pointer = (path: string): ValueAt => ({ kind: 'pointer', pointer: path })
export const form = (name: string): ValueAt => ({ kind: 'form', name })
export const firstOf = (...places: readonly ValueAt[]): ValueAt => ({ kind: 'first_of', places })

export const needed = (at: ValueAt): IdPart => ({ at, optional: false })
export const optional = (at: ValueAt): IdPart => ({ at, optional: true })

/** Parts that only together are unique. */
export const composite = (...parts: readonly IdPart[]): DeliveryIdAt => ({ kind: 'composite', parts, separator: ':' })
