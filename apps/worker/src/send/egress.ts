import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { DestinationContract } from '@counterfoil/core'
import { buildConnector } from 'undici'
import { isPublicAddress } from './public-address.js'

/** A connection that the destination's contract does not allow. Nothing was connected. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
  readonly code = 'ERR_COUNTERFOIL_EGRESS'

  constructor(host: string, addresses: readonly string[]) {
    super(`${host} resolves to ${addresses.join(', ')}, which is not a public address, and allowPrivate is not set`)
  }
}

/** Keeps the public ones of what a name resolved to; refuses when none is left. */
export function publicOnly(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0)
      const addresses: LookupAddress[] = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }]
      const allowed = addresses.filter(({ address }) => isPublicAddress(address))
      const first = allowed[0]
      if (first === undefined) {
        const refused = addresses.map(({ address }) => address)
        return callback(new EgressRefused(hostname, refused), '', 0)
      }
      if (options.all) return callback(null, allowed)
      return callback(null, first.address, first.family)
    })
  }
}

export type EgressContract = Pick<DestinationContract, 'allowPrivate' | 'tls'> & {
  readonly timeouts: Pick<DestinationContract['timeouts'], 'connectMs'>
}

/**
 * A connector that judges the very addresses it is about to connect to, so that a name which resolves differently a
 * moment later gains nothing. `URL` has already normalised odd spellings (`0x7f.1`, `2130706433`) to plain addresses.
 */
export function createGuardedConnector(
  contract: EgressContract,
  lookup: LookupFunction = systemLookup as LookupFunction,
): buildConnector.connector {
  const connect = createTlsConnector(contract, {
    timeout: contract.timeouts.connectMs,
    lookup: contract.allowPrivate ? lookup : publicOnly(lookup),
    // 250 ms, Node's default, gives up on an address 400 ms away.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(250, Math.min(1_000, Math.floor(contract.timeouts.connectMs / 3))),
  })
  if (contract.allowPrivate) return connect
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    // A literal address is never looked up.
    if (isIP(host) !== 0 && !isPublicAddress(host)) return callback(new EgressRefused(host, [host]), null)
    return connect(options, callback)
  }
}

/** Certificates and keys are read at every connection: a rotated one counts from the next socket on. */
function createTlsConnector({ tls }: EgressContract, options: buildConnector.BuildOptions): buildConnector.connector {
  if (tls === null) return buildConnector(options)
  const read = () => [tls.cert?.(), tls.key?.(), tls.ca?.()] as const
  const build = ([cert, key, ca]: ReturnType<typeof read>) =>
    buildConnector({ ...options, ...(cert && { cert }), ...(key && { key }), ...(ca && { ca }) })
  let made = read()
  let connect = build(made)
  return (to, callback) => {
    const found = read()
    if (found.some((pem, index) => pem !== made[index])) {
      made = found
      connect = build(found)
    }
    try {
      return connect(to, callback)
    } catch (error) {
      // A half-written file or a key of another certificate: Node refuses it before there is a socket.
      return callback(error instanceof Error ? error : new Error('the certificates are unusable'), null)
    }
  }
}
