import { createPublicKey, type KeyObject, sign } from 'node:crypto'

const SHA256_WITH_RSA = Buffer.from('300d06092a864886f70d01010b0500', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')

/** A certificate of the key by itself, as PEM; valid from 2020 to 2049. Node can read certificates and make none. */
export function createSelfSignedCertificate(privateKey: KeyObject): string {
  const name = der(0x30, der(0x31, der(0x30, COMMON_NAME, der(0x0c, Buffer.from('test')))))
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const serial = Buffer.from('020101', 'hex')
  const toBeSigned = der(0x30, serial, SHA256_WITH_RSA, name, validity, name, publicKey)
  const signature = sign('RSA-SHA256', toBeSigned, privateKey)
  const bits = der(0x03, Buffer.from([0]), signature)
  const lines = der(0x30, toBeSigned, SHA256_WITH_RSA, bits)
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
