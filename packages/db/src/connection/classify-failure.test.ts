import { describe, expect, it } from 'vitest'
import { classifyFailure } from './classify-failure.js'

describe('classifyFailure', () => {
  it.each([
    ['22021', 'data'],
    ['23514', 'data'],
    ['54000', 'data'],
    ['40001', 'conflict'],
    ['40P01', 'conflict'],
    ['55P03', 'blocked'],
    ['57014', 'blocked'],
    ['25006', 'read_only'],
    ['57P01', 'connection'],
    ['08006', 'connection'],
    ['53300', 'connection'],
    ['42501', 'other'],
    ['53100', 'other'],
    ['25P02', 'other'],
  ])('reads SQLSTATE %s as %s', (code, kind) => {
    expect(classifyFailure(Object.assign(new Error('x'), { code }))).toEqual({ kind, cause: `sqlstate ${code}` })
  })

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])('reads %s as a lost connection', (code) => {
    expect(classifyFailure(Object.assign(new Error('x'), { code }))).toEqual({ kind: 'connection', cause: code })
  })

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
  ])('reads "%s" as a lost connection', (message) => {
    expect(classifyFailure(new Error(message)).kind).toBe('connection')
  })

  it('names a constraint but never a value of a row (I10)', () => {
    const error = Object.assign(new Error('Failing row contains (secret)'), {
      code: '23514',
      constraint: 'delivery_reason',
      detail: 'Failing row contains (secret)',
    })
    expect(classifyFailure(error).cause).toBe('sqlstate 23514 (delivery_reason)')
    expect(classifyFailure(new TypeError('secret')).cause).toBe('TypeError')
  })
})
