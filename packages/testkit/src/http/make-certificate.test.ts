import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { makeCertificate } from './make-certificate.js'

it('is a certificate of that key, signed by it, and valid now', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const certificate = new X509Certificate(makeCertificate(pair, 'sns.example.test'))
  expect(certificate.subject).toBe('CN=sns.example.test')
  expect(certificate.publicKey.equals(pair.publicKey)).toBe(true)
  expect(certificate.verify(pair.publicKey)).toBe(true)
  expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now())
  expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now())
})
