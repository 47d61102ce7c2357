import { describe, expect, it } from 'vitest'
import { EXIT } from './exit-codes.js'
import { identifyOperator } from './identify-operator.js'

const operators = new Map([
  ['ana', { name: 'ana', token: Buffer.from('token-of-ana-0123456789'), approver: false }],
  ['bo', { name: 'bo', token: Buffer.from('token-of-bo-0123456789'), approver: true }],
])

describe('identifyOperator', () => {
  it('knows an operator by the token alone', () => {
    expect(identifyOperator({ operators }, 'token-of-bo-0123456789')).toBe('bo')
  })

  it.each([
    ['no token', null],
    ['an empty token', ''],
    ['a name', 'ana'],
    ['a part of a token', 'token-of-ana'],
    ['a longer token', 'token-of-ana-0123456789x'],
  ])('refuses %s with exit code 4, what to do, and without the token', (_, token) => {
    expect(() => identifyOperator({ operators }, token)).toThrow(
      expect.objectContaining({ exitCode: EXIT.refused, next: expect.stringContaining('COUNTERFOIL_OPERATOR_TOKEN') }),
    )
  })

  it('lets nobody act where no operators are configured', () => {
    expect(() => identifyOperator({ operators: new Map() }, 'x')).toThrow(
      expect.objectContaining({ exitCode: EXIT.refused }),
    )
  })
})
