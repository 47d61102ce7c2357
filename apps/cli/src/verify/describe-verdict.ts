import { type CaptureVerdict, formatInstant, type OffTime, type SourceContract, type Verified } from '@counterfoil/core'

/** What to look at for a cause that no variation explains. */
const ADVICE: Readonly<Record<string, string>> = {
  signature_mismatch:
    'the secret is another one than the sender signed with, or the content was changed after it was signed: compare the key at the sender, and capture the request before any proxy or body parser',
  token_mismatch: 'the sender has another token than this one',
  key_unknown: 'the token names a key that its issuer does not publish: it may come from another issuer or environment',
  token_claim: 'the token is right and for somebody else: compare audience, accounts and URL with those at the sender',
  topic_not_allowed: 'add the topic, if it is yours',
  no_active_key: 'give the source a key that is active',
  secret_unusable: "give the secret exactly as the sender's page shows it",
}

/** The verdict in lines for a person, the first with its kind before a colon; not yet escaped. */
export function describeVerdict(
  verdict: CaptureVerdict,
  contract: SourceContract,
  notes: readonly string[],
): readonly string[] {
  return [...describe(verdict, contract), ...notes.map((note) => `  note: ${note}`)]
}

function describe(verdict: CaptureVerdict, contract: SourceContract): readonly string[] {
  switch (verdict.kind) {
    case 'valid':
      return [
        `valid: ${describeSigner(verdict.verified)}`,
        `  ${describeBinds(contract, verdict.verified)}`,
        ...verdict.deliveries.map(({ deliveryId, eventType, disposition }) => {
          const kept = disposition.kind === 'quarantined' ? ` · would be quarantined: ${disposition.reason}` : ''
          return `  delivery ${deliveryId} · ${eventType === null ? 'no event type' : `type ${eventType}`}${kept}`
        }),
      ]
    case 'handshake': {
      const signed = verdict.verified === null ? 'before any signature' : describeSigner(verdict.verified)
      return [`valid: a handshake (${verdict.name}, answered ${verdict.status}), no delivery; ${signed}`]
    }
    case 'unusable':
      return [
        `not usable: ${verdict.cause}`,
        `  the signature is right (${describeSigner(verdict.verified)}), but ${verdict.hint}`,
      ]
    case 'unjudged':
      return [`not judged: ${verdict.cause}`, `  ${verdict.hint}`]
    case 'invalid':
      return [
        `not valid: ${verdict.cause}`,
        `  ${verdict.hint}`,
        ...(verdict.offTime === null ? [] : describeOffTime(verdict.offTime)),
        ...describeFindings(verdict),
      ]
  }
}

function describeFindings({ findings, offTime, cause }: CaptureVerdict & { kind: 'invalid' }): readonly string[] {
  if (findings.length > 0) {
    return findings.flatMap(({ words, next }) => [
      `  it would be valid if ${words.join(' and ')}`,
      ...next.map((step) => `    next: ${step}`),
    ])
  }
  const advice = ADVICE[cause]
  return offTime?.validThen === true || advice === undefined ? [] : [`  next: ${advice}`]
}

function describeOffTime({ signedAt, ageMs, validThen }: OffTime): readonly string[] {
  const seconds = Math.round(Math.abs(ageMs) / 1000)
  const when = `  signed at ${formatInstant(signedAt)}, ${seconds} s ${ageMs < 0 ? 'after' : 'before'} the moment that it is judged at`
  if (!validThen) return [when, '  at the moment of its signature it is not valid, either']
  const next =
    ageMs < 0
      ? "set the sender's clock (NTP), or this machine's"
      : 'nothing is wrong with the signature: it came late, is a replay, or is an old capture; judge it at its own time with --at'
  return [when, '  at that moment it is valid', `  next: ${next}`]
}

function describeSigner({ keyId, signedAt }: Verified): string {
  return `key ${keyId}${signedAt === null ? '' : `, signed at ${formatInstant(signedAt)}`}`
}

function describeBinds({ binds }: SourceContract, { bodyBound }: Verified): string {
  const parts = [
    ['the body', bodyBound],
    ['the id', binds.id],
    ['the time', binds.time],
    ['the URL', binds.url],
  ] as const
  const covered = parts.filter(([, isBound]) => isBound).map(([name]) => name)
  const open = parts.filter(([, isBound]) => !isBound).map(([name]) => name)
  const not = open.length === 0 ? '' : `, and not ${open.join(', ')}`
  return `the signature covers ${covered.length === 0 ? 'nothing but who sent it' : covered.join(', ')}${not}`
}
