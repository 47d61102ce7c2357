import type { DestinationContract, SourceContract, Transition } from '@counterfoil/core'
import type { ConfigProblem } from './problem.js'

export type Operator = {
  readonly name: string
  readonly token: Buffer
  /** May say yes to what another operator asks for. */
  readonly approver: boolean
}

/** Everything that receiver, worker and CLI know of the configuration. Never log it: use `describe`. */
export type ResolvedConfig = {
  readonly sources: ReadonlyMap<string, SourceContract>
  readonly destinations: ReadonlyMap<string, DestinationContract>
  /** By name: those of routes and those declared on their own. */
  readonly transitions: ReadonlyMap<string, Transition>
  readonly operators: ReadonlyMap<string, Operator>
  /** Effective values with their defaults; secrets as `secret.env('X') (set, 32 bytes)`. */
  describe(): Record<string, unknown>
  /**
   * Reads every file secret again. `keys()`, header values and tokens show the new ones from then on; a secret that
   * can't be used keeps its old value and is reported. Environment variables don't change while a process runs.
   */
  reloadSecrets(): readonly ConfigProblem[]
}

export type LoadResult =
  /** `problems` holds warnings only. */
  | { readonly kind: 'loaded'; readonly config: ResolvedConfig; readonly problems: readonly ConfigProblem[] }
  /** At least one error; the warnings are there too. */
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] }
