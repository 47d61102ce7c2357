import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import type { DestinationContract } from '@counterfoil/core'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'

/** A connection that the destination's contract does not allow. Nothing was connected. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
  readonly code = 'ERR_COUNTERFOIL_EGRESS'

  constructor(host: string, addresses: readonly string[]) {
    super(`${host} resolves to ${addresses.join(', ')}, which is not a public address, and allowPrivate is not set`)
  }
}

/** Would a packet to this address leave for the public internet? Anything unclear is a no. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast'
  const v6 = parsed as ipaddr.IPv6
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address().range() === 'unicast'
  // NAT64 carries an IPv4 address in its last four bytes: judge that one.
  if (v6.range() === 'rfc6052') return new ipaddr.IPv4(v6.toByteArray().slice(12)).range() === 'unicast'
  return v6.range() === 'unicast'
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

/**
 * A connector that judges the very addresses it is about to connect to, so that a name which resolves differently a
 * moment later gains nothing. `URL` has already normalised odd spellings (`0x7f.1`, `2130706433`) to plain addresses.
 */
export function createGuardedConnector(
  contract: DestinationContract,
  lookup: LookupFunction = systemLookup as LookupFunction,
): buildConnector.connector {
  const connect = buildConnector({
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
