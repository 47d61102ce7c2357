import type { Malformed } from './malformed.js'
import type { PushRequest } from './push-request.js'

export type SplitPush =
  /** The deliveries of a batched push, each with exactly the bytes that it had there. */
  | { readonly kind: 'slices'; readonly slices: readonly Buffer[] }
  /** This push is no batch. */
  | { readonly kind: 'whole' }
  | Malformed

/**
 * Takes a push apart. Its deliveries are claimed all or nothing: a push of which a part was kept could be neither acked
 * nor refused truthfully.
 *
 * @param json the bytes that `document` was parsed from, without a BOM
 */
export type Split = (document: unknown, json: Buffer, headers: PushRequest['headers']) => SplitPush
