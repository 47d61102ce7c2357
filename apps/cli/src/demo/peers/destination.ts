import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Ledger, openLedger, selectLines } from './ledger.js'
import { type PeerAnswer, type PeerRequest, servePeer, writeAnswer } from './peer-server.js'

/** What the destination does with the next request for a key. */
export type DestinationStep =
  | 'answer'
  /** Does the work, then cuts the connection: the caller never learns. */
  | 'apply_then_drop'
  /** Does the work, then never answers. */
  | 'apply_then_hang'
  /** Does nothing and never answers. */
  | 'hang'
  | 'refuse_503'
  /** Does the work and answers a moment later: the window in which a worker can be killed. */
  | 'apply_then_wait'

const WAIT_MS = 400

/**
 * A destination with a book of its own: `request` for everything seen, `effect` for everything really done.
 * One that honours keys answers a repeat with the first answer and `Idempotent-Replayed: true`.
 */
export class Destination {
  readonly #name: string
  readonly #honoursKeys: boolean
  readonly #ledger: Ledger
  /** Key → digest of the body that it was first used with. */
  readonly #known = new Map<string, string>()
  readonly #steps = new Map<string, DestinationStep[]>()
  #always: DestinationStep = 'answer'

  constructor(name: string, honoursKeys: boolean, ledger: Ledger) {
    this.#name = name
    this.#honoursKeys = honoursKeys
    this.#ledger = ledger
    for (const line of ledger.lines()) {
      if (line.kind === 'effect' && typeof line.key === 'string') this.#known.set(line.key, String(line.digest))
    }
  }

  handle(request: PeerRequest, response: ServerResponse): PeerAnswer | null {
    if (request.path === '/_peer/health') return { status: 200, body: { peer: this.#name } }
    if (request.path === '/_peer/ledger') return { status: 200, body: selectLines(this.#ledger, request.query) }
    if (request.path === '/_peer/script') return this.#script(JSON.parse(request.body.toString('utf8')))
    return this.#receive(request, response)
  }

  /** `{ "always": step }` for every request, or `{ "key": key, "steps": [step, …] }` for the next ones of one key. */
  #script(script: { always?: DestinationStep; key?: string; steps?: DestinationStep[] }): PeerAnswer {
    if (script.always !== undefined) this.#always = script.always
    if (script.key !== undefined) this.#steps.set(script.key, [...(script.steps ?? [])])
    return { status: 204 }
  }

  #receive(request: PeerRequest, response: ServerResponse): PeerAnswer | null {
    const key = readKey(request)
    const digest = createHash('sha256').update(request.body).digest('hex')
    const step = this.#steps.get(key ?? subjectOf(request.body) ?? '')?.shift() ?? this.#always
    this.#ledger.append('request', { key, digest, step, about: subjectOf(request.body) })
    if (step === 'hang') return null
    if (step === 'refuse_503') return { status: 503, headers: { 'retry-after': '1' } }

    const answer = this.#apply(key, digest, subjectOf(request.body))
    if (step === 'apply_then_hang') return null
    if (step === 'apply_then_drop') {
      response.socket?.resetAndDestroy()
      return null
    }
    if (step === 'apply_then_wait') {
      setTimeout(() => writeAnswer(response, answer), WAIT_MS)
      return null
    }
    return answer
  }

  #apply(key: string | null, digest: string, about: string | null): PeerAnswer {
    if (this.#honoursKeys && key !== null) {
      const first = this.#known.get(key)
      if (first === digest) {
        return { status: 200, body: { accepted: true }, headers: { 'idempotent-replayed': 'true' } }
      }
      if (first !== undefined) return { status: 422, body: { error: 'key_reused' } }
      this.#known.set(key, digest)
    }
    this.#ledger.append('effect', { key, digest, about })
    return { status: 200, body: { accepted: true } }
  }
}

function readKey(request: PeerRequest): string | null {
  const header = request.headers['idempotency-key']
  return typeof header === 'string' ? header : null
}

/** Whom the request is about, so that a destination without keys can be scripted and read back too. */
function subjectOf(body: Buffer): string | null {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'))
    if (typeof parsed !== 'object' || parsed === null || !Object.hasOwn(parsed, 'about')) return null
    const about = (parsed as { about: unknown }).about
    return typeof about === 'string' ? about : null
  } catch {
    return null
  }
}

/** Runs a destination as this process: `PEER_NAME`, `PEER_LEDGER`, `PEER_PORT`, `PEER_HOST`, `PEER_KEYS=honour`. */
export function runDestination(env: Readonly<Record<string, string | undefined>>): void {
  const name = env.PEER_NAME ?? 'destination'
  const ledger = openLedger(env.PEER_LEDGER ?? `.counterfoil/ledgers/${name}.jsonl`)
  const destination = new Destination(name, env.PEER_KEYS === 'honour', ledger)
  servePeer({
    host: env.PEER_HOST ?? '127.0.0.1',
    port: Number(env.PEER_PORT ?? 0),
    handle: (request, response) => destination.handle(request, response),
  })
}
