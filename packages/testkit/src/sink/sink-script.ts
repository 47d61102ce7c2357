/** What the sink does with one request. `apply`: does the business effect happen? */
export type SinkBehaviour =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
      /** Before the answer; the effect is applied on arrival, before the delay. */
      readonly delayMs?: number
      /** Default: a status of 2xx applies. `{ status: 500, apply: true }` works and then says that it did not. */
      readonly apply?: boolean
    }
  /** Reads the request and never answers. */
  | { readonly kind: 'hang'; readonly apply: boolean }
  /** Reads the request, then closes the connection (`reset`: with RST instead of FIN). */
  | { readonly kind: 'drop'; readonly apply: boolean; readonly reset?: boolean }
  /** Answers status and headers and half of the announced body, then closes the connection. */
  | { readonly kind: 'truncate'; readonly apply: boolean; readonly status: number }
  /** Resets as soon as the request's headers are in, its body unread. Nothing is applied. */
  | { readonly kind: 'reset_before_read' }
  /** Reads the request and then writes these bytes as they are: answers that no HTTP server would send. */
  | { readonly kind: 'raw'; readonly apply: boolean; readonly base64: string }

/** When a rule holds; the first one that does decides. What is absent matches everything. */
export type SinkRule = {
  readonly path?: string
  /** Idempotency key. */
  readonly key?: string
  /** First and last request that it holds for, counted from 1 per rule over the requests that match path and key. */
  readonly from?: number
  readonly to?: number
  readonly behaviour: SinkBehaviour
}

export type SinkScript = {
  readonly rules: readonly SinkRule[]
  /** What happens where no rule holds; default 200 with `{"ok":true}`, applied. */
  readonly otherwise: SinkBehaviour
  /** Header that carries the idempotency key, lower case. */
  readonly keyHeader: string
  /**
   * Does it know a repeated key? Then the effect happens once per path and key, and a repeat that would be applied is
   * answered as the first was (200 if that answer was no success) with `Idempotent-Replayed: true`. The same key with
   * another body is answered 422.
   */
  readonly honourKeys: boolean
  /** Further request headers to keep in the ledger, lower case. */
  readonly keepHeaders: readonly string[]
}

/**
 * How connections are met: `open` serves them, `refuse` is not listening at all, `reset` closes each with RST before a
 * byte is read, `mute` accepts and never reads.
 */
export type SinkDoor = 'open' | 'refuse' | 'reset' | 'mute'

export const PLAIN_SCRIPT: SinkScript = {
  rules: [],
  otherwise: { kind: 'answer', status: 200 },
  keyHeader: 'idempotency-key',
  honourKeys: true,
  keepHeaders: [],
}

/** Chooses the behaviour of each request; keeps the count of each rule. */
export function createChooser(script: SinkScript): (path: string, key: string | null) => SinkBehaviour {
  const counts = script.rules.map(() => 0)
  return (path, key) => {
    let chosen: SinkBehaviour | null = null
    // Every matching rule counts the request, also the ones behind the rule that decides.
    for (const [index, rule] of script.rules.entries()) {
      if (rule.path !== undefined && rule.path !== path) continue
      if (rule.key !== undefined && rule.key !== key) continue
      const count = (counts[index] ?? 0) + 1
      counts[index] = count
      if (count >= (rule.from ?? 1) && count <= (rule.to ?? Number.POSITIVE_INFINITY)) chosen ??= rule.behaviour
    }
    return chosen ?? script.otherwise
  }
}

export function doesApply(behaviour: SinkBehaviour): boolean {
  switch (behaviour.kind) {
    case 'answer':
      return behaviour.apply ?? (behaviour.status >= 200 && behaviour.status < 300)
    case 'reset_before_read':
      return false
    default:
      return behaviour.apply
  }
}
