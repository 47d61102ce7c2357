import type { NotSentCause } from './outcome.js'

/**
 * What an error code says about a request whose headers were NOT handed to the socket. Codes are for messages and
 * alarms, never for safety: with the marker seen every one of them is uncertain.
 */
export type ErrorClass = {
  readonly codes: readonly RegExp[]
  /** `unsendable`: our own bug or configuration, so sending again can't help. */
  readonly cause: NotSentCause | 'unsendable'
  readonly why: string
}

/** The first row that matches decides; no row: `unknown_before_send`. */
export const ERROR_CLASSES: readonly ErrorClass[] = [
  {
    codes: [/^ENOTFOUND$/, /^EAI_/, /^ENODATA$/, /^ESERVFAIL$/, /^EDNS/, /^UND_ERR_DNS/],
    cause: 'dns',
    why: 'The name was not resolved: there was no socket.',
  },
  {
    codes: [/^EMFILE$/, /^ENFILE$/, /^EADDRNOTAVAIL$/, /^ENOBUFS$/, /^ENOMEM$/],
    cause: 'local_exhaustion',
    why: 'This machine ran out of files, ports or memory.',
  },
  {
    codes: [
      /CERT/,
      /^UNABLE_TO_/,
      /^ERR_TLS_/,
      /^ERR_SSL_/,
      /^ERR_OSSL_/,
      /^EPROTO$/,
      /^HOSTNAME_MISMATCH$/,
      /^UND_ERR_PRX_TLS$/,
    ],
    cause: 'tls',
    why: 'The handshake or the certificate failed, before any request.',
  },
  {
    codes: [
      /^UND_ERR_INVALID_/,
      /^UND_ERR_NOT_SUPPORTED$/,
      /^UND_ERR_REQ_CONTENT_LENGTH_MISMATCH$/,
      /^ERR_INVALID_/,
      /^ERR_HTTP_INVALID_/,
      /^ERR_UNESCAPED_CHARACTERS$/,
    ],
    cause: 'unsendable',
    why: "The request could not even be built: a bug or a configuration that retries won't mend.",
  },
  {
    codes: [/^ERR_COUNTERFOIL_TOKEN$/],
    cause: 'no_credentials',
    why: 'The token endpoint gave no token, so nothing was left to send to the destination.',
  },
  {
    codes: [/^ERR_COUNTERFOIL_EGRESS/],
    cause: 'egress_refused',
    why: 'Our own guard refused the resolved address.',
  },
  {
    codes: [/^ERR_COUNTERFOIL_(LEASE_ENDED|STOPPING)$/],
    cause: 'lease_returned',
    why: 'The lease or the key window ended, or the worker stopped, before the headers could go: our doing.',
  },
  {
    codes: [
      /^ECONNREFUSED$/,
      /^ECONNRESET$/,
      /^ECONNABORTED$/,
      /^EPIPE$/,
      /^ETIMEDOUT$/,
      /^EHOST/,
      /^ENET/,
      /^AggregateError$/,
      /^UND_ERR_CONNECT_TIMEOUT$/,
      /^ConnectTimeoutError$/,
      /^UND_ERR_SOCKET$/,
      /^UND_ERR_PRX_CONN$/,
      /^UND_ERR_SOCKS5/,
      /^UND_ERR_BPL_MISSING_UPSTREAM$/,
      /^UND_ERR_MAX_ORIGINS_REACHED$/,
    ],
    cause: 'connect',
    why: 'The connection was not made, or died while the request was queued.',
  },
  {
    codes: [
      /^ERR_COUNTERFOIL_TOTAL_TIMEOUT$/,
      /^UND_ERR_ABORT/,
      /^AbortError$/,
      /^TimeoutError$/,
      /^UND_ERR_DESTROYED$/,
      /^UND_ERR_CLOSED$/,
      /^2[03]$/,
    ],
    cause: 'aborted_before_send',
    why: 'We gave up, or shut down, before it left.',
  },
]

/** Only for failures whose marker was provably not seen. */
export function judgeUnsentError(code: string): NotSentCause | 'unsendable' {
  return ERROR_CLASSES.find((row) => row.codes.some((pattern) => pattern.test(code)))?.cause ?? 'unknown_before_send'
}
