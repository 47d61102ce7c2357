import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeIdentityDigest } from './identity-digest.js'
import { parseJson } from './parse-json.js'
import { readExactText } from './read-exact-text.js'

function digest(text: string | Buffer, volatile: readonly string[] = []): string {
  const raw = Buffer.from(text)
  const parsed = parseJson(raw)
  return computeIdentityDigest(raw, parsed.kind === 'parsed' ? parsed.bytes : null, volatile).toString('hex')
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('without volatile fields', () => {
  test('the digest is of the raw bytes: white space and a BOM count', () => {
    expect(digest('{"a":1}')).toBe(sha256(Buffer.from('{"a":1}')))
    expect(digest('{"a": 1}')).not.toBe(digest('{"a":1}'))
    expect(digest('\ufeff{"a":1}')).not.toBe(digest('{"a":1}'))
  })

  test('a body that is not JSON is digested as it is', () => {
    expect(digest(Buffer.from([0xff, 0xfe]), ['/attempt'])).toBe(sha256(Buffer.from([0xff, 0xfe])))
    expect(digest('', ['/attempt'])).toBe(sha256(Buffer.alloc(0)))
  })
})

describe('with volatile fields', () => {
  test('their value makes no difference, wherever the member stands and whether it is there at all', () => {
    const all = [
      '{"a":1,"attempt":1,"b":2}',
      '{"a":1,"attempt":{"n":[2,"}"]},"b":2}',
      '{"a":1,"b":2}',
      '{"attempt":3, "a":1,"b":2}',
    ]
    expect(new Set([...all, '{"a":1,"b":2 , "attempt":9}'].map((text) => digest(text, ['/attempt']))).size).toBe(1)
  })

  test('everything else makes a difference', () => {
    const base = digest('{"a":1,"attempt":1}', ['/attempt'])
    for (const text of ['{"a":2,"attempt":1}', '{"b":1,"attempt":1}', '{"a":1,"b":1,"attempt":1}', '{}', '[{"a":1}]']) {
      expect(digest(text, ['/attempt'])).not.toBe(base)
    }
  })

  test('no digit is lost: long integers that a parser would round stay different', () => {
    const of = (n: string) => digest(`{"id":${n},"attempt":1}`, ['/attempt'])
    expect(of('7615917337495251231')).not.toBe(of('7615917337495251232'))
    expect(of('1.0')).not.toBe(of('1'))
  })

  test('an escaped name is the same name; a duplicate key is cut with the first', () => {
    expect(digest('{"a":1,"\\u0061ttempt":2}', ['/attempt'])).toBe(digest('{"a":1}', ['/attempt']))
    expect(digest('{"attempt":1,"a":1,"attempt":2}', ['/attempt'])).toBe(digest('{"a":1}', ['/attempt']))
  })

  test('a nested pointer cuts only there', () => {
    const of = (text: string) => digest(text, ['/meta/attempt', '/items/0/seen'])
    expect(of('{"meta":{"attempt":1,"x":2},"attempt":7}')).toBe(of('{"meta":{"attempt":5,"x":2},"attempt":7}'))
    expect(of('{"meta":{"attempt":1},"attempt":7}')).not.toBe(of('{"meta":{"attempt":1},"attempt":8}'))
    expect(of('{"items":[{"seen":1},{"seen":1}]}')).not.toBe(of('{"items":[{"seen":1},{"seen":2}]}'))
    expect(of('{"items":[{"seen":1},{"seen":1}]}')).toBe(of('{"items":[{"seen":4},{"seen":1}]}'))
  })

  test('`__proto__` is a name like any other', () => {
    expect(digest('{"__proto__":1}', ['/attempt'])).not.toBe(digest('{}', ['/attempt']))
    expect(digest('{"__proto__":1}', ['/__proto__'])).toBe(digest('{}', ['/__proto__']))
  })
})

describe('properties', () => {
  const document = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 })
  const written = fc.tuple(document, fc.constantFrom(undefined, 1, '\t'))

  test('setting a volatile field on any document, in any layout, keeps its digest', () => {
    fc.assert(
      fc.property(written, fc.jsonValue({ maxDepth: 2 }), ([value, space], attempt) => {
        const without = Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'attempt'))
        const withOne = { ...without, attempt }
        expect(digest(JSON.stringify(withOne, null, space), ['/attempt'])).toBe(
          digest(JSON.stringify(without, null, space), ['/attempt']),
        )
      }),
    )
  })

  test('two documents that differ elsewhere keep different digests', () => {
    fc.assert(
      fc.property(document, document, (left, right) => {
        const strip = (value: object) => JSON.stringify(Object.entries(value).filter(([name]) => name !== 'attempt'))
        fc.pre(strip(left) !== strip(right))
        expect(digest(JSON.stringify(left), ['/attempt'])).not.toBe(digest(JSON.stringify(right), ['/attempt']))
      }),
    )
  })

  test('the scanner finds the value that the parser finds, for every member', () => {
    fc.assert(
      fc.property(written, ([value, space]) => {
        const json = Buffer.from(JSON.stringify(value, null, space))
        for (const [name, member] of Object.entries(JSON.parse(json.toString()) as object)) {
          const found = readExactText(json, `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
          if (typeof member === 'string') expect(found).toBe(member)
          else expect(JSON.parse(found ?? 'undefined')).toEqual(member)
        }
      }),
    )
  })
})
