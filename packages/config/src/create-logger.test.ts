import { describe, expect, test } from 'vitest'
import { createLogger } from './create-logger.js'

function capture(level: 'info' | 'debug' = 'info') {
  const lines: string[] = []
  const log = createLogger({
    level,
    service: 'receiver',
    destination: { write: (line: string) => void lines.push(line) },
  })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

describe('createLogger', () => {
  test('writes one JSON line with level as text, ISO time and the service', () => {
    const { log, last, lines } = capture()
    log.info({ source: 'tickets', outcome: 'accepted' }, 'push.received')
    expect(lines[0]?.endsWith('\n')).toBe(true)
    expect(last()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: 'receiver',
      source: 'tickets',
      outcome: 'accepted',
      msg: 'push.received',
    })
  })

  test('a line below the level is not written; a child keeps service and level', () => {
    const { log, lines, last } = capture()
    log.debug('no')
    expect(lines).toEqual([])
    log.child({ destination: 'crm' }).warn('yes')
    expect(last()).toMatchObject({ level: 'warn', service: 'receiver', destination: 'crm' })
  })

  test('secrets, signatures and payloads are struck out, also inside objects and errors (I10)', () => {
    const { log, last, lines } = capture()
    const leaky = Object.assign(new Error('failed'), {
      headers: { authorization: 'hush' },
      body: 'hush',
      parameters: ['hush'],
    })
    log.error({
      token: 'hush',
      request: { headers: { a: 'hush' }, payload: 'hush' },
      deep: { er: { secret: 'hush' } },
      err: leaky,
    })
    expect(lines[0]).not.toContain('hush')
    expect(last()).toMatchObject({ token: '[redacted]', err: { type: 'Error', message: 'failed', body: '[redacted]' } })
  })

  test('text from outside stays on one line', () => {
    const { log, lines } = capture()
    log.info({ id: 'a\nb\u0000\u2028' }, 'x\r\ny')
    expect(lines).toHaveLength(1)
    expect(lines[0]?.trimEnd().split('\n')).toHaveLength(1)
  })
})
