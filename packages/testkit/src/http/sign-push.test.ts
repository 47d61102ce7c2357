import { describe, expect, it } from 'vitest'
import { signPush } from './sign-push.js'

// RFC 4231, test case 2.
const KNOWN = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

describe('signPush', () => {
  it('signs the body alone as RFC 4231 says', () => {
    expect(signPush('what do ya want for nothing?', { scheme: 'body', secret: 'Jefe' })).toBe(KNOWN)
  })

  it('signs timestamp, dot and body, with prefix and encoding', () => {
    const body = Buffer.from('{"a":1}')
    const signing = { scheme: 'timestamped', secret: 's', timestamp: 1_700_000_000, prefix: 'v1=' } as const
    const plain = signPush(Buffer.from('1700000000.{"a":1}'), { scheme: 'body', secret: 's' })
    expect(signPush(body, signing)).toBe(`v1=${plain}`)
    expect(signPush(body, { ...signing, encoding: 'base64' })).toBe(
      `v1=${Buffer.from(plain, 'hex').toString('base64')}`,
    )
  })
})
