import type { KeyContract } from '@counterfoil/core'

/** The configured destinations by name. One that is missing was removed from the configuration. */
export type DestinationContracts = { readonly get: (name: string) => KeyContract | undefined }
