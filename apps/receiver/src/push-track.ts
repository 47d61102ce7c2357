/** Where the time of one push went: `performance.now()` at the end of each step, `null` where it never came. */
export type PushTrack = {
  readonly startedAt: number
  readAt: number | null
  verifiedAt: number | null
  claimedAt: number | null
  bytes: number
}

export function startTrack(): PushTrack {
  return { startedAt: performance.now(), readAt: null, verifiedAt: null, claimedAt: null, bytes: 0 }
}
