import { describe, expect, test } from 'vitest'
import type { Capture } from './capture.js'
import { assembleCapture, parseCapture } from './parse-capture.js'

function parse(text: string | Buffer): Capture {
  const parsed = parseCapture(Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1'))
  if (parsed.kind === 'unreadable') throw new Error(parsed.why)
  return parsed
}

const codes = (capture: Capture) => capture.notes.map(({ code }) => code)

describe('a capture', () => {
  test.each(['\r\n', '\n'])('with line ends %j in its head keeps its body byte for byte', (end) => {
    const body = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0x0a, 0xef])
    const head = Buffer.from(['POST /push?a=%20b HTTP/1.1', 'Host: h.test', 'X-A:  one ', 'x-a: two', '', ''].join(end))
    const capture = parse(Buffer.concat([head, body]))
    expect(capture).toMatchObject({ method: 'POST', target: '/push?a=%20b', everything: null, notes: [] })
    expect(capture.body).toEqual(body)
    expect(capture.headers.get('x-a')).toEqual(['one', 'two'])
  })

  test('may begin with empty lines, name HTTP/2 or no version, and have a whole URL as its target', () => {
    expect(parse('\r\n\r\nPOST /p HTTP/2\r\n\r\nx').body.toString()).toBe('x')
    expect(parse('post /p\n\n')).toMatchObject({ method: 'POST', target: '/p' })
    expect(parse('POST https://h.test/p?q HTTP/1.1\n\n').target).toBe('https://h.test/p?q')
  })

  test('without a body may end with its last header', () => {
    expect(parse('POST /p HTTP/1.1\nA: b').body).toHaveLength(0)
  })

  test('hands header values over as Node does: Latin-1', () => {
    expect(parse(Buffer.from('POST / HTTP/1.1\nX-A: é\n\n')).headers.get('x-a')).toEqual(['Ã©'])
  })

  test('that is longer than its Content-Length is cut there, and says so', () => {
    const capture = parse('POST / HTTP/1.1\nContent-Length: 2\n\n{}\n')
    expect(capture.body.toString()).toBe('{}')
    expect(capture.everything?.toString()).toBe('{}\n')
    expect(codes(capture)).toEqual(['longer_than_content_length'])
  })

  test('that is shorter than its Content-Length says so', () => {
    const capture = parse('POST / HTTP/1.1\nContent-Length: 5\n\n{}')
    expect(capture.body.toString()).toBe('{}')
    expect(codes(capture)).toEqual(['shorter_than_content_length'])
  })

  test('in chunks is put together, whatever extensions, trailers and line ends there are', () => {
    const head = 'POST / HTTP/1.1\nTransfer-Encoding: gzip, chunked\n\n'
    const capture = parse(`${head}3;a=b\r\nabc\r\n2\ndé\n0\r\nX: y\r\n\r\n`)
    expect(capture.body.toString('latin1')).toBe('abcdé')
    expect(codes(capture)).toEqual(['chunks_joined'])
    const plain = parse(`${head}{}`)
    expect(plain.body.toString()).toBe('{}')
    expect(codes(plain)).toEqual(['not_chunked'])
    expect(codes(parse(`${head}ff\r\nshort\r\n`))).toEqual(['not_chunked'])
  })

  test('with an encoding, or by another method, says what a receiver makes of it', () => {
    expect(codes(parse('PUT / HTTP/1.1\nContent-Encoding: gzip\n\nx'))).toEqual(['not_a_post', 'encoded_body'])
    expect(codes(parse('POST / HTTP/1.1\nContent-Encoding: identity\n\nx'))).toEqual([])
  })

  test.each([
    ['nothing', '', 'no empty line'],
    ['headers alone', 'Host: h.test\nX: y\n\n{}', 'no request line'],
    ['a folded header', 'POST / HTTP/1.1\nA: b\n c\n\n', 'line 3 begins with white space'],
    ['a line that is no header', '\nPOST / HTTP/1.1\nsome words\n\n', 'line 3 is no header'],
    ['two lengths', 'POST / HTTP/1.1\nContent-Length: 1\nContent-Length: 2\n\n', 'two Content-Length'],
    ['a length that is none', 'POST / HTTP/1.1\nContent-Length: +1\n\n', 'no whole number'],
    ['a head without an end', `POST / HTTP/1.1\nA: ${'b'.repeat(70_000)}`, 'no empty line'],
    ['too many headers', `POST / HTTP/1.1\n${'A: b\n'.repeat(501)}\n`, 'more than 500'],
  ])('of %s is unreadable, and says why', (_, text, why) => {
    expect(parseCapture(Buffer.from(text))).toMatchObject({ kind: 'unreadable', why: expect.stringContaining(why) })
  })

  test('can be put together from its parts, with or without a request line', () => {
    for (const headers of ['X-A: b\r\nX-C: d\r\n', 'POST /other HTTP/1.1\nX-A: b\nX-C: d\n\n']) {
      const made = assembleCapture('post', '/p', Buffer.from(headers), Buffer.from('{}'))
      expect(made).toMatchObject({ kind: 'captured', method: 'POST', target: '/p', body: Buffer.from('{}') })
      expect(made.kind === 'captured' ? [...made.headers] : []).toEqual([
        ['x-a', ['b']],
        ['x-c', ['d']],
      ])
    }
  })
})
