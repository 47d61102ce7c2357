import { describe, expect, test } from 'vitest'
import { createLogger } from './create-logger.js'
import { strikeSensitive } from './strike-sensitive.js'

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

  test('secrets, signatures and payloads are struck out, at any depth (I10)', () => {
    const { log, last, lines } = capture()
    log.error({
      token: 'hush',
      request: { headers: { a: 'hush' }, payload: 'hush', ok: 1 },
      deep: { er: { Secret: 'hush' } },
      list: [{ rawBody: Buffer.from('hush') }],
      bytes: Buffer.from('hush'),
      deepest: { a: { b: { c: { d: { e: 'hush' } } } } },
    })
    expect(lines[0]).not.toContain('hush')
    expect(lines[0]).not.toContain('104,117')
    expect(last()).toMatchObject({ token: '[redacted]', request: { headers: '[redacted]', ok: 1 }, bytes: '[4 bytes]' })
    log.child({ secret: 'hush' }).info({ signature: null }, 'x')
    expect(lines[1]).not.toContain('hush')
    expect(last()).toMatchObject({ signature: null })
  })

  test('of an error only type, message, code, stack and cause are written, wherever it stands (I10)', () => {
    const { log, last, lines } = capture()
    const cause = Object.assign(new TypeError('inner'), { detail: 'hush' })
    const leaky = Object.assign(new Error('failed', { cause }), {
      code: 'ENOSPC',
      detail: 'hush',
      where: { x: 'hush' },
    })
    log.error({ err: leaky, other: leaky }, 'a')
    const wanted = {
      type: 'Error',
      message: 'failed',
      code: 'ENOSPC',
      stack: expect.any(String),
      cause: { type: 'TypeError' },
    }
    expect(last()).toMatchObject({ err: wanted, other: wanted })
    log.error(leaky)
    expect(last()).toMatchObject({ err: wanted, msg: 'failed' })
    expect(lines.join('')).not.toContain('hush')
  })

  test('what quotes what it met is written without its words: a refused statement, a text that is no JSON (I10)', () => {
    const { log, last, lines } = capture()
    const refused = Object.assign(new Error('invalid input syntax for type uuid: "hush"'), { code: '22P02' })
    log.error({ err: refused }, 'a')
    expect(last()).toMatchObject({
      err: { type: 'Error', code: '22P02', message: '[redacted]', stack: expect.stringMatching(/^\s+at /) },
    })
    try {
      JSON.parse('hush, hush')
    } catch (error) {
      log.error({ err: error }, 'b')
    }
    expect(last()).toMatchObject({ err: { type: 'SyntaxError', message: '[redacted]' } })
    expect(lines.join('')).not.toContain('hush')
  })

  test('a line without anything to strike is not even copied', () => {
    const line = { source: 'tickets', references: { ticket: 'ticket-4821' }, at: new Date(0) }
    expect(strikeSensitive(line)).toBe(line)
  })

  test('text from outside stays on one line', () => {
    const { log, lines } = capture()
    log.info({ id: 'a\nb\u0000\u2028' }, 'x\r\ny')
    expect(lines).toHaveLength(1)
    expect(lines[0]?.trimEnd().split('\n')).toHaveLength(1)
  })
})
