import { toSnakeCase } from '../render/to-snake-case.js'
import type { SignedRequest } from './sign-request.js'

/** The request as it goes over the wire, byte for byte. */
export function writeRaw({ url, headers, body }: SignedRequest): Buffer {
  const { host } = new URL(url)
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const lines = [
    `POST ${target.startsWith('/') ? target : `/${target}`} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/** A command to paste into a shell; the body comes from its file. */
export function writeCurl({ url, headers }: SignedRequest, bodyFile: string): string {
  const parts = [
    `curl --request POST ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    `--data-binary ${quote(`@${bodyFile}`)}`,
  ]
  return `${parts.join(' \\\n  ')}\n`
}

export function requestDocument(
  { url, headers, body }: SignedRequest,
  facts: {
    readonly source: string | null
    readonly preset: string | null
    readonly keyId: string
    readonly signedAt: number
    readonly deliveryId: string | null
  },
): object {
  const document = toSnakeCase({ schemaVersion: 1, ...facts, method: 'POST', url }) as object
  // Names of headers are not ours to rewrite.
  return { ...document, headers, body_base64: body.toString('base64') }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
