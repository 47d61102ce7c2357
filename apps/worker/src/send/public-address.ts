import ipaddr from 'ipaddr.js'

/**
 * Networks inside 2000::/3 that lead back to an IPv4 address, to a machine nearby, or nowhere, and that the library
 * calls unicast: documentation (RFC 9637).
 */
const NOT_PUBLIC_V6: readonly [ipaddr.IPv6, number][] = [[ipaddr.IPv6.parse('3fff::'), 20]]
const GLOBAL_V6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * Would a packet to this address leave for the public internet? Anything unclear is a no: private, loopback,
 * link-local, carrier-grade NAT, multicast, reserved, and IPv6 that carries an IPv4 address which is one of those, or
 * that is tunnelled (6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.kind() === 'ipv4') return isPublicV4(parsed as ipaddr.IPv4)
  const v6 = parsed as ipaddr.IPv6
  // A zone names a link of this machine.
  if (v6.zoneId !== undefined) return false
  // The library reads the IPv4-compatible `::1.2.3.4` as a mapped one; no host answers there.
  if (v6.isIPv4MappedAddress()) return /ffff/i.test(address) && isPublicV4(v6.toIPv4Address())
  // NAT64 carries an IPv4 address in its last four bytes: judge that one.
  if (v6.range() === 'rfc6052') return isPublicV4(new ipaddr.IPv4(v6.toByteArray().slice(12)))
  // Outside of 2000::/3 nothing is global: IPv4-compatible, site-local, local NAT64, segment routing.
  if (v6.range() !== 'unicast' || !v6.match(GLOBAL_V6)) return false
  return !NOT_PUBLIC_V6.some((network) => v6.match(network))
}

/** Azure's metadata and host agent: answers only from inside, at an address that looks public. */
const AZURE_HOST = '168.63.129.16'

function isPublicV4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_HOST
}
