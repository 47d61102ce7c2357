import { createHmac } from 'node:crypto'

/**
 * How the demo queue signs for one source. Written apart from Counterfoil's own verification on purpose: two programs
 * that share their signing code agree on its mistakes too.
 */
export type SigningProfile = {
  readonly url: string
  readonly secret: string
  readonly signatureHeader: string
  /** `timestamped`: HMAC-SHA-256 over `<seconds>.<body>`; `body`: over the body alone. */
  readonly scheme: 'timestamped' | 'body'
  readonly timestampHeader: string | null
  /** `null`: the id is inside the body. */
  readonly idHeader: string | null
}

export type SignedPush = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }

/** `shiftMs` moves the signed time: negative is stale, positive comes from the future. */
export function signPush(profile: SigningProfile, id: string, body: Buffer, now: number, shiftMs = 0): SignedPush {
  const seconds = String(Math.floor((now + shiftMs) / 1000))
  const mac = createHmac('sha256', profile.secret)
  if (profile.scheme === 'timestamped') mac.update(`${seconds}.`)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    [profile.signatureHeader]: mac.update(body).digest('hex'),
  }
  if (profile.idHeader !== null) headers[profile.idHeader] = id
  if (profile.timestampHeader !== null) headers[profile.timestampHeader] = seconds
  return { headers, body }
}

/** The same push with one byte changed after signing. */
export function tamperPush(push: SignedPush): SignedPush {
  const body = Buffer.from(push.body)
  const at = Math.floor(body.length / 2)
  body[at] = (body[at] ?? 0) ^ 1
  return { headers: push.headers, body }
}
