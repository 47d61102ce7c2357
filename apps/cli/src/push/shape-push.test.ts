import type { SourceContract } from '@counterfoil/core'
import { describe, expect, it } from 'vitest'
import { CommandFailure } from '../terminal/command-failure.js'
import { type PushInput, shapePush } from './shape-push.js'

const INPUT: PushInput = {
  body: Buffer.from('{"jobId":"j-1",  "n":1}'),
  id: null,
  type: null,
  contentType: 'application/json',
  headers: {},
}

function source(deliveryId: SourceContract['deliveryId'], eventType: SourceContract['eventType'] = null) {
  return { name: 'tickets', deliveryId, eventType } as SourceContract
}

describe('shapePush', () => {
  it('leaves the bytes alone where the id is a header, and makes an id when none is given', () => {
    const at = source({ kind: 'header', header: 'X-Delivery-ID' })
    const given = shapePush(at, { ...INPUT, id: 'd-1' })
    expect(given).toMatchObject({ deliveryId: 'd-1', headers: { 'x-delivery-id': 'd-1' } })
    expect(given.body.equals(INPUT.body)).toBe(true)
    expect(shapePush(at, INPUT).deliveryId).toMatch(/^[0-9a-f-]{36}$/)
    expect(shapePush(at, { ...INPUT, headers: { 'x-delivery-id': 'own' } }).deliveryId).toBe('own')
  })

  it('takes the id from the body byte for byte, and writes another one in where it is given', () => {
    const at = source({ kind: 'pointer', pointer: '/jobId' })
    const same = shapePush(at, INPUT)
    expect(same.deliveryId).toBe('j-1')
    expect(same.body.equals(INPUT.body)).toBe(true)
    expect(shapePush(at, { ...INPUT, id: 'j-2' }).body.toString()).toBe('{"jobId":"j-2","n":1}')
  })

  it('writes into the body safely', () => {
    const at = source({ kind: 'pointer', pointer: '/__proto__' })
    expect(shapePush(at, { ...INPUT, id: 'x' }).body.toString()).toContain('"__proto__":"x"')
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
  })

  it('puts the event type where the source reads it', () => {
    const at = source({ kind: 'body_digest' }, { kind: 'pointer', pointer: '/type' })
    expect(shapePush(at, { ...INPUT, type: 'ticket.solved' }).body.toString()).toContain('"type":"ticket.solved"')
  })

  it.each([
    ['an id where the body is the id', source({ kind: 'body_digest' }), { ...INPUT, id: 'x' }],
    ['no id anywhere', source({ kind: 'pointer', pointer: '/id' }), INPUT],
    ['an id in what is not JSON', source({ kind: 'pointer', pointer: '/id' }), { ...INPUT, body: Buffer.from('x') }],
    ['a type that the source takes from nowhere', source({ kind: 'body_digest' }), { ...INPUT, type: 'x' }],
    ['no place for the id', source({ kind: 'pointer', pointer: '/a/b' }), { ...INPUT, id: 'x' }],
  ])('refuses %s with a sentence', (_, at, input) => {
    expect(() => shapePush(at, input)).toThrow(CommandFailure)
  })
})
