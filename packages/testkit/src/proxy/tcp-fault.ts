/**
 * What a proxy does to a connection from the moment that it is armed. One fault at a time; `null` forwards everything.
 */
export type TcpFault =
  | {
      /** Loses the answer to the first request for which `when` holds: the target has worked, its client never knows. */
      readonly kind: 'lose_reply'
      /** Sees what the client sent since the fault was armed, per connection, its last 64 KiB. */
      readonly when: (sent: Buffer) => boolean
      /** `cut` closes the connection when the swallowed answer has come, `hang` leaves it open and silent. */
      readonly how: 'cut' | 'hang'
      /**
       * Is the swallowed answer complete? Default: its first bytes are enough. For PostgreSQL use
       * `endsWithReadyForQuery`: a COMMIT is known to be done only then.
       */
      readonly isComplete?: (reply: Buffer) => boolean
      /** How many answers to lose before the fault is spent; default 1. */
      readonly times?: number
    }
  | {
      /** Forwards this many bytes of the answers of a connection, then closes it. */
      readonly kind: 'cut_reply_after'
      readonly bytes: number
      readonly times?: number
    }
  | {
      /** Loses the request itself: the connection is closed before the bytes for which `when` holds are forwarded. */
      readonly kind: 'lose_request'
      readonly when: (sent: Buffer) => boolean
      readonly times?: number
    }

/** Holds when the bytes contain this text, e.g. `COMMIT`, the name of a prepared statement, or a path. */
export function mentions(text: string): (bytes: Buffer) => boolean {
  const wanted = Buffer.from(text)
  return (bytes) => bytes.includes(wanted)
}

/** PostgreSQL's ReadyForQuery is `Z`, a length of 5 and the transaction's state. */
export function endsWithReadyForQuery(reply: Buffer): boolean {
  const tail = reply.subarray(-6)
  return tail.length === 6 && tail[0] === 0x5a && tail.readUInt32BE(1) === 5
}
