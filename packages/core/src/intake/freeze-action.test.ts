import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ActionDraft } from '../transition/transition.js'
import { ConfigurationBug } from './configuration-bug.js'
import { freezeAction } from './freeze-action.js'
import { encodeKey } from './key-rule.js'

const freeze = (changes: Partial<ActionDraft>) =>
  freezeAction({ destination: 'crm', idempotencyKey: 'k', body: {}, ...changes }, () => 'id-1')

describe('freezeAction (I3)', () => {
  test('the body becomes bytes once, and the digest is theirs', () => {
    const body = { a: 1 }
    const frozen = freeze({ body })
    body.a = 2
    expect(frozen.body.toString()).toBe('{"a":1}')
    expect(frozen.bodyDigest).toEqual(createHash('sha256').update('{"a":1}').digest())
  })

  test('a Buffer is copied, so that later changes of it change nothing', () => {
    const body = Buffer.from('abc')
    const frozen = freeze({ body })
    body[0] = 0
    expect(frozen.body.toString()).toBe('abc')
  })

  test('the content type follows the kind of body unless it is given', () => {
    expect(freeze({ body: {} }).contentType).toBe('application/json')
    expect(freeze({ body: 'x' }).contentType).toBe('text/plain; charset=utf-8')
    expect(freeze({ body: Buffer.alloc(1) }).contentType).toBe('application/octet-stream')
    expect(freeze({ body: 'a=1', contentType: 'application/x-www-form-urlencoded' }).contentType).toBe(
      'application/x-www-form-urlencoded',
    )
  })

  test('what has no bytes or no key is a bug of the configuration, named by its destination', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    for (const changes of [{ body: cycle }, { body: { n: 1n } }, { body: () => 1 }]) {
      expect(() => freeze(changes)).toThrow(ConfigurationBug)
    }
    expect(() => freeze({ idempotencyKey: '' })).toThrow(/destination crm has no idempotency key/)
    expect(() => freeze({ idempotencyKey: undefined as unknown as string })).toThrow(ConfigurationBug)
    expect(() => freeze({ contentType: 'a\r\nb' })).toThrow(ConfigurationBug)
    expect(() => freeze({ orderingKey: '' })).toThrow(ConfigurationBug)
  })
})

describe('encodeKey', () => {
  test.each(['expire:r1:7', '123', '0', 'a b', 'a'.repeat(255)])('%j travels as it is', (key) => {
    expect(encodeKey(key)).toBe(key)
  })

  test.each(['a'.repeat(5000), '😀', 'Zoë', ' a', 'a\0', 'a\ud800', 'a\nb'])(
    '%j is encoded, readable at its start',
    (key) => {
      expect(encodeKey(key)).toMatch(/^[\x21-\x7e]{1,40}~[A-Za-z0-9_-]{43}$/)
      expect(encodeKey(key)).toBe(encodeKey(key))
    },
  )

  test('two keys never become one: not even a key that looks like an encoded one', () => {
    expect(encodeKey('a\ud800')).not.toBe(encodeKey('a\ud801'))
    const encoded = encodeKey('😀')
    expect(encodeKey(encoded)).not.toBe(encoded)
    const text = fc.string({ unit: 'binary', minLength: 1 })
    fc.assert(fc.property(text, text, (a, b) => (a === b) === (encodeKey(a) === encodeKey(b))))
  })

  test('every key is 1 to 255 printable ASCII characters (case B082: header values out of data)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 600 }), (key) => {
        expect(encodeKey(key)).toMatch(/^[\x20-\x7e]{1,255}$/)
      }),
    )
  })
})
