import { describe, expect, it } from 'vitest'
import { describeError } from './describe-error.js'

describe('describeError', () => {
  it('tells kind and place, and never the message, which may quote a row or a payload (I10)', () => {
    const error = Object.assign(new Error('Failing row contains (ann@example.org)'), {
      code: '23514',
      constraint: 'entry_bytes',
      detail: 'ann@example.org',
    })
    const told = describeError(error)
    expect(told.error).toBe('sqlstate 23514 (entry_bytes)')
    expect(told.at[0]).toMatch(/^at /)
    expect(JSON.stringify(told)).not.toContain('ann@example.org')
  })

  it('tells the code of a failed system call', () => {
    expect(describeError(Object.assign(new Error('no space left'), { code: 'ENOSPC' })).error).toBe('ENOSPC')
  })

  it('takes what is no error', () => {
    expect(describeError('text')).toEqual({ error: 'unknown error', at: [] })
  })
})
