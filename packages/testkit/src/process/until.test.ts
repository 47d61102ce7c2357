import { describe, expect, it } from 'vitest'
import { until } from './until.js'

describe('until', () => {
  it('returns the first truthy value, whatever was thrown before', async () => {
    let calls = 0
    const value = await until(
      () => {
        calls += 1
        if (calls < 3) throw new Error('not yet')
        return calls
      },
      { everyMs: 1 },
    )
    expect(value).toBe(3)
  })

  it('says what it waited for, with the last error as the cause', async () => {
    const waiting = until(() => Promise.reject(new Error('down')), { timeoutMs: 20, everyMs: 5, what: 'the moon' })
    await expect(waiting).rejects.toMatchObject({
      message: 'Waited 20 ms in vain for the moon',
      cause: { message: 'down' },
    })
  })
})
