import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** What the peer does with one action, after or instead of carrying it out. */
export type ActionScript = {
  readonly apply: boolean
  readonly ends:
    | { readonly kind: 'answer'; readonly status: number; readonly delayMs?: number }
    | { readonly kind: 'drop' }
}

export const WORKS: ActionScript = { apply: true, ends: { kind: 'answer', status: 200 } }

/** A destination with a record of its own that can be asked: `GET /actions?key=…` tells the truth about what it did. */
export type RecordingPeer = {
  readonly url: string
  readonly lookupUrl: string
  /** Keys of the actions that arrived, in order. */
  readonly actions: () => readonly string[]
  /** Keys of the effects: what really happened. */
  readonly effects: () => readonly string[]
  readonly questions: () => readonly { readonly key: string; readonly authorization: string | null }[]
  /** The most questions that were open at a time, and the most of them about one key. */
  readonly mostOpen: () => { readonly overall: number; readonly ofOneKey: number }
  readonly close: () => Promise<void>
}

export type PeerOptions = {
  /** Does it know a repeated key? The key header is `idempotency-key`; without one the body's `n` tells the action. */
  readonly honourKeys: boolean
  /** @param arrival counted from 1 */
  readonly script: (arrival: number) => ActionScript
  /** Held until this resolves, then answered; `null` keeps it unanswered for good. */
  readonly beforeAnswer?: (question: number) => Promise<void> | null
  /** Answered instead of the truth. */
  readonly answerWith?: (question: number) => number | null
}

export async function startRecordingPeer(options: PeerOptions): Promise<RecordingPeer> {
  const actions: string[] = []
  const effects: string[] = []
  const questions: { key: string; authorization: string | null }[] = []
  const open = new Map<string, number>()
  const most = { overall: 0, ofOneKey: 0 }

  async function act(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { n } = (await json(request)) as { n: number }
    const key = `key-${n}`
    actions.push(key)
    const { apply, ends } = options.script(actions.length)
    const isRepeat = options.honourKeys && effects.includes(key)
    if (apply && !isRepeat) effects.push(key)
    if (isRepeat) return void response.writeHead(200, { 'Idempotent-Replayed': 'true' }).end()
    if (ends.kind === 'drop') return void response.socket?.destroy()
    setTimeout(() => response.writeHead(ends.status).end(), ends.delayMs ?? 0)
  }

  async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = new URL(request.url ?? '/', 'http://peer').searchParams.get('key') ?? ''
    const question = questions.push({ key, authorization: request.headers.authorization ?? null })
    open.set(key, (open.get(key) ?? 0) + 1)
    most.overall = Math.max(most.overall, sum(open))
    most.ofOneKey = Math.max(most.ofOneKey, open.get(key) ?? 0)
    response.on('close', () => open.set(key, (open.get(key) ?? 1) - 1))
    const wait = options.beforeAnswer?.(question)
    if (wait === null) return
    await wait
    const status = options.answerWith?.(question) ?? null
    if (status !== null) return void response.writeHead(status).end()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ actions: effects.filter((done) => done === key).map((done) => ({ key: done })) }))
  }

  const server = createServer((request, response) => {
    const work = request.method === 'GET' ? tell(request, response) : act(request, response)
    work.catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/actions`,
    lookupUrl: '/actions?key={key}',
    actions: () => [...actions],
    effects: () => [...effects],
    questions: () => [...questions],
    mostOpen: () => ({ ...most }),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function sum(open: ReadonlyMap<string, number>): number {
  return [...open.values()].reduce((total, count) => total + count, 0)
}
