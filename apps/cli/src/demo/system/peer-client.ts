import type { DestinationStep } from '../peers/destination.js'
import type { LedgerLine } from '../peers/ledger.js'
import type { QueueJob } from '../peers/queue.js'
import { waitUntil } from './wait-until.js'

export type LedgerFilter = Readonly<Record<string, string | number>>

/** Reads a peer's ledger back over HTTP: the peer's word, not ours. */
export class PeerClient {
  readonly url: string

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`
  }

  async lines(filter: LedgerFilter = {}): Promise<readonly LedgerLine[]> {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(filter)) query.set(name, String(value))
    const response = await fetch(`${this.url}/_peer/ledger?${query}`)
    return (await response.json()) as LedgerLine[]
  }

  async post(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${this.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`the peer answered ${response.status} to ${path}: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

export class QueueClient extends PeerClient {
  enqueue(job: QueueJob): Promise<void> {
    return this.post('/jobs', job)
  }

  /** Waits until the queue is done with a job, in whatever way; returns its pushes' answers in order. */
  async ended(job: string, timeoutMs?: number): Promise<readonly LedgerLine[]> {
    await waitUntil(
      `the queue is done with ${job}`,
      async () => (await this.lines({ job, kind: 'ended' })).length > 0,
      timeoutMs,
    )
    return this.lines({ job, kind: 'answer' })
  }

  async push(job: QueueJob): Promise<readonly LedgerLine[]> {
    await this.enqueue(job)
    return this.ended(job.id)
  }
}

export class DestinationClient extends PeerClient {
  /** What happens to the next requests with this key, or about this subject where no key is sent. */
  script(key: string, ...steps: DestinationStep[]): Promise<void> {
    return this.post('/_peer/script', { key, steps })
  }

  always(step: DestinationStep): Promise<void> {
    return this.post('/_peer/script', { always: step })
  }

  requests(about: string): Promise<readonly LedgerLine[]> {
    return this.lines({ kind: 'request', about })
  }

  effects(about: string): Promise<readonly LedgerLine[]> {
    return this.lines({ kind: 'effect', about })
  }
}
