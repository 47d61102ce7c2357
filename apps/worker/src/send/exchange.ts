import type { OwnFailureCode, Sent } from '@counterfoil/core'
import type { Dispatcher } from 'undici'
import { describeFailure } from './describe-failure.js'

export type ExchangeOptions = {
  readonly totalMs: number
  readonly capBytes: number
  /** `performance.now()` after which no byte may leave. */
  readonly sendBefore: number
  readonly keptHeaders: KeptHeaders
  readonly onEnd: (sent: Sent) => void
}

/** Lower-case names of response headers that rules may read: no more of them than a rule could ask for. */
export type KeptHeaders = { readonly ofSuccess: readonly string[]; readonly ofOthers: readonly string[] }

type Answer = { readonly status: number; readonly headers: Readonly<Record<string, string>> }

/**
 * One request and what came of it, as a handler of undici. It reports exactly once and keeps one fact that no error
 * code tells: were this request's headers handed to the socket? undici calls `onRequestStart` in the same tick as the
 * write and after every step of connecting, so before it not one byte has left, and after it any number may have.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions
  readonly #startedAt = performance.now()
  readonly #deadline: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  #size = 0
  #controller: Dispatcher.DispatchController | null = null
  #headersHandedOver = false
  #answer: Answer | null = null
  #ended = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#deadline = setTimeout(() => this.giveUp('ERR_COUNTERFOIL_TOTAL_TIMEOUT'), options.totalMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (!this.#ended && performance.now() >= this.#options.sendBefore) this.giveUp('ERR_COUNTERFOIL_LEASE_ENDED')
    // An abort in here, before undici writes, keeps every byte at home.
    else if (this.#ended) controller.abort(new Error('given up before it was sent'))
    else this.#headersHandedOver = true
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return
    this.#answer = { status, headers: this.#keepHeaders(status, headers) }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return
    const room = this.#options.capBytes - this.#size
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    this.#size += Math.min(chunk.length, room)
    if (chunk.length > room) this.#endAnswered(true)
  }

  onResponseEnd(): void {
    this.#endAnswered(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { code, message } = describeFailure(error)
    this.#endFailed(code, message, this.#headersHandedOver ? 'headers' : 'connect')
  }

  /** Ends the exchange now, whatever it waits for; what had left before decides what is reported. */
  giveUp(code: OwnFailureCode): void {
    this.#endFailed(code, OWN_MESSAGES[code], code === 'ERR_COUNTERFOIL_TOTAL_TIMEOUT' ? 'total' : 'unknown')
  }

  #endFailed(code: string, message: string, step: 'connect' | 'headers' | 'total' | 'unknown'): void {
    const durationMs = this.#elapsedMs()
    // Once a status line was read the outcome is known: a body that got lost later changes nothing.
    if (this.#answer !== null)
      this.#end({ kind: 'answered', ...this.#answer, body: null, bodyTruncated: false, durationMs })
    else this.#end({ kind: 'failed', code, message, headersHandedOver: this.#headersHandedOver, step, durationMs })
  }

  #endAnswered(bodyTruncated: boolean): void {
    const body = Buffer.concat(this.#chunks)
    if (this.#answer === null) this.#endFailed('NO_STATUS', 'the response ended without a status', 'headers')
    else this.#end({ kind: 'answered', ...this.#answer, body, bodyTruncated, durationMs: this.#elapsedMs() })
  }

  #end(sent: Sent): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#deadline)
    // Destroys the socket of an unfinished exchange; does nothing after a finished one.
    if (sent.kind === 'failed' || sent.body === null || sent.bodyTruncated) {
      this.#controller?.abort(new Error('exchange ended'))
    }
    this.#options.onEnd(sent)
  }

  #keepHeaders(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): Record<string, string> {
    const kept: Record<string, string> = {}
    const { ofSuccess, ofOthers } = this.#options.keptHeaders
    for (const name of status < 300 ? ofSuccess : ofOthers) {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined
      if (value !== undefined) kept[name] = Array.isArray(value) ? value.join(', ') : value
    }
    return kept
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt)
  }
}

const OWN_MESSAGES: Readonly<Record<OwnFailureCode, string>> = {
  ERR_COUNTERFOIL_LEASE_ENDED: 'the lease or the key window had ended before the request could be sent',
  ERR_COUNTERFOIL_TOTAL_TIMEOUT: 'no complete answer within the total time-out of the destination',
  ERR_COUNTERFOIL_STOPPING: 'the worker stopped before the answer came',
  ERR_COUNTERFOIL_EGRESS: 'the address is not allowed',
  ERR_COUNTERFOIL_TOKEN: 'there was no token to send with',
}
