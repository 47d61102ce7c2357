import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { describe, expect, test } from 'vitest'
import { publicOnly } from './egress.js'
import { isPublicAddress } from './public-address.js'

const resolvesTo =
  (found: LookupAddress[]): LookupFunction =>
  (_hostname, _options, callback) =>
    callback(null, found)

function lookup(found: LookupAddress[], all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    publicOnly(resolvesTo(found))('crm.example', { all }, (error, address) =>
      error ? reject(error) : resolve(address),
    )
  })
}

describe('isPublicAddress', () => {
  test.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'])(
    '%s is',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )
  test.each([
    ...['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...['255.255.255.255', '224.0.0.1', '192.0.2.1', '198.18.0.1', '240.0.0.1', '::', '::1', 'fe80::1', 'fe80::1%eth0'],
    ...['fd12::1', 'ff02::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2001:db8::1', '2002:7f00:1::', 'nonsense', ''],
    ...['::7f00:1', '::127.0.0.1', '::1.1.1.1', '64:ff9b:1::7f00:1', '::ffff:0:127.0.0.1', 'fec0::1', '2001:0:4136::1'],
    ...['3fff::1', '5f00::1', '100::1', '4000::1', '2606:4700::1111%eth0', '192.88.99.1', '192.0.0.8', '239.1.1.1'],
    ...['64:ff9b::a9fe:a9fe', '::ffff:169.254.169.254', '::ffff:100.64.0.1', 'fd00:ec2::254', '168.63.129.16'],
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('publicOnly', () => {
  const mixed = [
    { address: '10.0.0.1', family: 4 },
    { address: '1.1.1.1', family: 4 },
    { address: 'fd00::1', family: 6 },
  ]

  test('keeps the public addresses of a name and drops the others', async () => {
    expect(await lookup(mixed, true)).toEqual([{ address: '1.1.1.1', family: 4 }])
    expect(await lookup(mixed, false)).toBe('1.1.1.1')
  })

  test('refuses a name that has none', async () => {
    await expect(lookup([{ address: '10.0.0.1', family: 4 }], true)).rejects.toMatchObject({
      code: 'ERR_COUNTERFOIL_EGRESS',
      message: expect.stringContaining('10.0.0.1'),
    })
    await expect(lookup([], true)).rejects.toMatchObject({ code: 'ERR_COUNTERFOIL_EGRESS' })
  })
})
