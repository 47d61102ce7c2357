import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ActionDraft } from '../transition/transition.js'
import { ConfigurationBug } from './configuration-bug.js'
import { freezeAction } from './freeze-action.js'
import { encodeKey, type KeyRule } from './key-rule.js'

const rule = (changes: Partial<KeyRule>): KeyRule => ({ maxLength: 255, form: 'text', pointer: null, ...changes })
const freeze = (changes: Partial<ActionDraft>) =>
  freezeAction({ destination: 'pay', idempotencyKey: 'order:7', body: { a: 1 }, ...changes }, () => 'id-1')

describe('a destination that takes short keys', () => {
  test('gets a longer one as its beginning and a digest, never two texts as one key', () => {
    expect(encodeKey('a'.repeat(45), { maxLength: 45, form: 'text' })).toBe('a'.repeat(45))
    expect(encodeKey('a'.repeat(46), { maxLength: 45, form: 'text' })).toMatch(/^a~[A-Za-z0-9_-]{43}$/)
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 90 })
    const short = fc.integer({ min: 44, max: 64 })
    fc.assert(
      fc.property(text, text, short, (a, b, maxLength) => {
        const [one, two] = [encodeKey(a, { maxLength, form: 'text' }), encodeKey(b, { maxLength, form: 'text' })]
        return one.length <= maxLength && one.length > 0 && (one === two) === (a === b)
      }),
      { verbose: 1 },
    )
  })

  test('gets a UUID where it wants one, always the same for the same text', () => {
    const uuid = encodeKey('order:7', { maxLength: 255, form: 'uuid' })
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(encodeKey('order:7', { maxLength: 255, form: 'uuid' })).toBe(uuid)
    expect(encodeKey('order:8', { maxLength: 255, form: 'uuid' })).not.toBe(uuid)
  })
})

describe('a destination that has its key in the body', () => {
  test('gets it into the frozen bytes, so that every attempt carries it (I3)', () => {
    const frozen = freeze({ keyRule: rule({ pointer: '/idempotency_key' }) })
    expect(frozen.body.toString()).toBe('{"a":1,"idempotency_key":"order:7"}')
    expect(frozen.idempotencyKey).toBe('order:7')
    expect(freeze({ keyRule: rule({ pointer: '/meta/key' }) }).body.toString()).toBe('{"a":1,"meta":{"key":"order:7"}}')
    expect(freeze({ body: { k: 'order:7' }, keyRule: rule({ pointer: '/k' }) }).body.toString()).toBe('{"k":"order:7"}')
  })

  test('changes nothing of the draft', () => {
    const body = { a: 1 }
    freeze({ body, keyRule: rule({ pointer: '/k' }) })
    expect(body).toEqual({ a: 1 })
    expect(freeze({ keyRule: rule({ pointer: '/__proto__' }) }).body.toString()).toBe('{"a":1,"__proto__":"order:7"}')
  })

  test.each<[string, Partial<ActionDraft>]>([
    ['another value stands in its place', { body: { k: 'other' } }],
    ['the body is a list', { body: [1] }],
    ['the body is text', { body: '{"a":1}' }],
    ['the body is bytes', { body: Buffer.from('{}') }],
  ])('is a bug of the configuration where %s', (_name, changes) => {
    expect(() => freeze({ ...changes, keyRule: rule({ pointer: '/k' }) })).toThrow(ConfigurationBug)
  })

  test('is one where a scalar stands on the way to its place', () => {
    expect(() => freeze({ body: { a: 1 }, keyRule: rule({ pointer: '/a/k' }) })).toThrow(ConfigurationBug)
  })
})
