import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

/** What came of one try to push. Never throws for a network result. */
export type PushAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs: number | null; readonly body: string }
  /** The connection was closed on purpose when the answer began to come. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'failed'; readonly cause: string }

export type OnePush = {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly timeoutMs: number
  readonly dropResponse: boolean
  readonly signal: AbortSignal
}

const ANSWER_CAP = 2_000

/** One HTTP request as a queue would make it: no redirects, no retries, a connection of its own. */
export function sendOnce(push: OnePush): Promise<PushAnswer> {
  return new Promise((resolve) => {
    const open = push.url.protocol === 'https:' ? requestHttps : requestHttp
    const request: ClientRequest = open(push.url, {
      method: 'POST',
      agent: false,
      headers: { ...push.headers, 'content-length': String(push.body.length) },
      timeout: push.timeoutMs,
      signal: push.signal,
    })
    // The socket's own time-out starts again with every byte; the sender's patience does not.
    const patience = setTimeout(() => request.destroy(new Error('ETIMEDOUT')), push.timeoutMs)
    const end = (answer: PushAnswer) => {
      clearTimeout(patience)
      resolve(answer)
    }
    request.on('response', (response) => {
      if (push.dropResponse) {
        request.destroy()
        end({ kind: 'dropped' })
        return
      }
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      const finish = () =>
        end({
          kind: 'answered',
          status: response.statusCode ?? 0,
          retryAfterMs: readRetryAfter(response.headers['retry-after']),
          body: Buffer.concat(chunks).subarray(0, ANSWER_CAP).toString('utf8'),
        })
      response.on('end', finish)
      response.on('error', finish)
    })
    request.on('error', (error: NodeJS.ErrnoException) => end({ kind: 'failed', cause: error.code ?? error.message }))
    request.end(push.body)
  })
}

function readRetryAfter(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : null
}
