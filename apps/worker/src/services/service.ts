/** What one run of a service did. */
export type ServiceRun = {
  /** For the log; a run whose counts are all 0 is not worth a line. */
  readonly counts: Readonly<Record<string, number>>
  /** Entries became due for these: they are woken. */
  readonly destinations: readonly string[]
  /** A full page: run again at once. */
  readonly more: boolean
}

/** Periodic repair. Safe to run anywhere, at any time, any number of times at once. */
export type Service = {
  readonly name: string
  readonly everyMs: number
  /** One bounded batch. Rejects only when the database fails. */
  readonly runOnce: () => Promise<ServiceRun>
}
