import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPointer } from './json-pointer.js'
import { MAX_JSON_DEPTH, parseJson } from './parse-json.js'
import { readExactText } from './read-exact-text.js'

const parse = (text: string | Buffer) => parseJson(Buffer.from(text))

describe('parseJson', () => {
  test('a BOM is dropped for parsing only; an empty body is null (case B010: byte order mark)', () => {
    expect(parse('\ufeff{"a":1}')).toMatchObject({ kind: 'parsed', value: { a: 1 } })
    expect(parse('')).toMatchObject({ kind: 'parsed', value: null })
  })

  test('bytes that are not UTF-8 are refused, not replaced', () => {
    expect(parse(Buffer.from([0x22, 0xff, 0x22]))).toEqual({ kind: 'invalid', cause: 'body_not_utf8' })
  })

  test('text that is not JSON is refused', () => {
    for (const text of ['{', 'a=1', '{"a":1}x', "{'a':1}", '[1,]', 'NaN']) {
      expect(parse(text)).toEqual({ kind: 'invalid', cause: 'body_not_json' })
    }
  })

  test('nesting is counted before anything is built: the limit passes, one more does not', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(parse(nested(MAX_JSON_DEPTH)).kind).toBe('parsed')
    expect(parse(nested(MAX_JSON_DEPTH + 1))).toEqual({ kind: 'invalid', cause: 'body_too_deep' })
    expect(parse('['.repeat(100_000))).toEqual({ kind: 'invalid', cause: 'body_too_deep' })
    expect(parse('{"a":'.repeat(100_000))).toEqual({ kind: 'invalid', cause: 'body_too_deep' })
  })

  test('brackets in strings do not count', () => {
    expect(parse(JSON.stringify(`${'['.repeat(500)}\\"${'{'.repeat(500)}`)).kind).toBe('parsed')
  })

  test('prototype pollution: `__proto__` and `constructor` stay data', () => {
    const parsed = parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"status":"delivered"}}}')
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined()
    const value = parsed.kind === 'parsed' ? parsed.value : null
    expect(readPointer(value, '/__proto__/isAdmin')).toBe(true)
    expect(readPointer({}, '/__proto__')).toBeUndefined()
    expect(readPointer({}, '/constructor/name')).toBeUndefined()
    expect(readPointer({ a: 'text' }, '/a/length')).toBeUndefined()
  })

  test('duplicate keys: the last one wins, for the parser and for pointers alike', () => {
    const text = '{"id":"first","id":"second"}'
    expect(parse(text)).toMatchObject({ value: { id: 'second' } })
    expect(readExactText(Buffer.from(text), '/id')).toBe('second')
  })

  test('any bytes give an answer without a throw, and only JSON is called parsed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(['parsed', 'invalid']).toContain(parse(Buffer.from(bytes)).kind)
      }),
    )
  })
})

describe('readPointer', () => {
  test('the examples of RFC 6901', () => {
    const document = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'm~n': 8, ' ': 7 }
    expect(readPointer(document, '')).toBe(document)
    expect(readPointer(document, '/foo/0')).toBe('bar')
    expect(readPointer(document, '/')).toBe(0)
    expect(readPointer(document, '/a~1b')).toBe(1)
    expect(readPointer(document, '/m~0n')).toBe(8)
    expect(readPointer(document, '/foo/00')).toBeUndefined()
    expect(readPointer(document, '/foo/-')).toBeUndefined()
    expect(readPointer(document, '/foo/length')).toBeUndefined()
    expect(readPointer(document, 'foo')).toBeUndefined()
    expect(readPointer(document, '/~2')).toBeUndefined()
  })
})

describe('readExactText', () => {
  test('numbers keep every digit and their spelling', () => {
    const json = Buffer.from('{"p_id":7615917337495251231,"x":1.0,"y":1e400,"t":"a\\u00e9","n":null}')
    expect(readExactText(json, '/p_id')).toBe('7615917337495251231')
    expect(readExactText(json, '/x')).toBe('1.0')
    expect(readExactText(json, '/y')).toBe('1e400')
    expect(readExactText(json, '/t')).toBe('aé')
    expect(readExactText(json, '/missing')).toBeNull()
    expect(readExactText(json, '/x/y')).toBeNull()
  })
})
