import type { OAuth2Auth } from '@counterfoil/core'
import type { Dispatcher } from 'undici'
import { describeFailure } from './describe-failure.js'
import { readToken, type TokenReading } from './read-token.js'
import { writeBasic } from './sign-request.js'

/** More than any honest answer of a token endpoint. */
const MAX_ANSWER_BYTES = 65_536

/**
 * One request to the token endpoint (RFC 6749, 4.4): bounded in time and size, no redirect is followed. Never throws;
 * a failure says what happened, and shows neither the secret nor anything of the answer but its status.
 */
export async function fetchToken(auth: OAuth2Auth, dispatcher: Dispatcher, timeoutMs: number): Promise<TokenReading> {
  const url = new URL(auth.tokenUrl)
  try {
    const answer = await dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        ...(auth.sendAs === 'basic' ? { authorization: `Basic ${writeClient(auth)}` } : {}),
      },
      body: writeForm(auth).toString(),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) return { kind: 'failed', why: 'the token endpoint answered more than 64 KiB' }
      chunks.push(chunk)
    }
    return readToken(answer.statusCode, Buffer.concat(chunks))
  } catch (error) {
    // The code only: a message of the network may quote an address, and of anything else who knows what.
    return { kind: 'failed', why: `the token endpoint could not be asked (${describeFailure(error).code})` }
  }
}

/** RFC 6749, 2.3.1: both are form-encoded before they are joined. */
function writeClient({ clientId, clientSecret }: OAuth2Auth): string {
  return writeBasic(encodeForm(clientId), Buffer.from(encodeForm(clientSecret().toString('utf8'))))
}

function encodeForm(text: string): string {
  return new URLSearchParams({ v: text }).toString().slice('v='.length)
}

function writeForm(auth: OAuth2Auth): URLSearchParams {
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (auth.scope !== null) form.set('scope', auth.scope)
  if (auth.audience !== null) form.set('audience', auth.audience)
  if (auth.sendAs === 'form') {
    form.set('client_id', auth.clientId)
    form.set('client_secret', auth.clientSecret().toString('utf8'))
  }
  return form
}
