import type { SignedPush, Verification } from '@counterfoil/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NOW, PUBLIC_URL, SIGNING_CASES, type SigningCase } from './testing/signing.js'
import { arriving } from './testing/vectors.js'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((array) => Buffer.from(array))
const flip = fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) })
const RUNS = { numRuns: 60 }

function change(buffer: Buffer, { at, mask }: { at: number; mask: number }): Buffer {
  const changed = Buffer.from(buffer)
  const index = at % changed.length
  changed[index] = (changed[index] ?? 0) ^ mask
  return changed
}

/** Hex digits and the names of authentication schemes mean the same in either case. */
function isSameInEitherCase(value: string, changed: string, at: number): boolean {
  if (value.toLowerCase() !== changed.toLowerCase()) return false
  return /[0-9a-f]{40}$/.test(value) || at % value.length < 'Bearer'.length
}

async function sign(made: SigningCase, body: Buffer): Promise<SignedPush> {
  if (made.scheme.sign === null) throw new Error(`${made.name} does not sign`)
  return made.scheme.sign(made.push(body), made.signingKey, NOW)
}

async function verify(made: SigningCase, push: SignedPush, now = NOW): Promise<Verification> {
  return made.scheme.verify(arriving(push), made.keys, now, made.material)
}

describe.each(SIGNING_CASES.map((made) => [made.name, made] as const))('%s', (_name, made) => {
  test('believes what it signed, whatever the bytes, and says which key', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        expect(await verify(made, await sign(made, body))).toMatchObject({
          kind: 'verified',
          keyId: made.signingKey.id,
          bodyBound: made.scheme.binds.body,
        })
      }),
      RUNS,
    )
  })

  test('one changed byte of the body is refused where the scheme says that it binds the body, and only there', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, flip, async (body, where) => {
        const push = await sign(made, body)
        const verdict = await verify(made, { ...push, rawBody: change(push.rawBody, where) })
        expect(verdict.kind).toBe(made.scheme.binds.body ? 'refused' : 'verified')
      }),
      RUNS,
    )
  })

  for (const header of made.signedHeaders)
    test(`one changed byte of ${header} is refused`, async () => {
      await fc.assert(
        fc.asyncProperty(bytes, flip, async (body, where) => {
          const push = await sign(made, body)
          const value = push.headers[header] ?? ''
          const changed = change(Buffer.from(value, 'latin1'), where).toString('latin1')
          fc.pre(!isSameInEitherCase(value, changed, where.at))
          const verdict = await verify(made, { ...push, headers: { ...push.headers, [header]: changed } })
          expect(verdict.kind).toBe('refused')
        }),
        RUNS,
      )
    })

  test('another URL is refused where the scheme says that it binds the URL, and only there', async () => {
    const push = await sign(made, Buffer.from('{}'))
    const other = (push.publicUrl ?? PUBLIC_URL).replace('/hooks/q', '/hooks/p')
    expect((await verify(made, { ...push, publicUrl: other })).kind).toBe(
      made.scheme.binds.url ? 'refused' : 'verified',
    )
    if (!made.scheme.needsPublicUrl) return
    expect(await verify(made, { ...push, publicUrl: null })).toMatchObject({
      kind: 'unavailable',
      cause: 'public_url_missing',
    })
  })

  test('a day later it is refused where the scheme says that it binds the time, and only there', async () => {
    const push = await sign(made, Buffer.from('{}'))
    for (const now of [NOW + 86_400_000, NOW - 86_400_000]) {
      expect((await verify(made, push, now)).kind).toBe(made.scheme.binds.time ? 'refused' : 'verified')
    }
  })

  test('a header of any text is judged without a throw, and no hint repeats it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 12, maxLength: 60 }), async (text) => {
        // A scheme without a header of its own must not mind one.
        const names = made.signedHeaders.length === 0 ? ['authorization'] : made.signedHeaders
        const headers = Object.fromEntries(names.map((header) => [header, text]))
        const verdict = await verify(made, { ...made.push(Buffer.from('{}')), headers })
        expect(verdict.kind).not.toBe('verified')
        expect('hint' in verdict ? verdict.hint : '').not.toContain(text)
      }),
      RUNS,
    )
  })

  test('a push without a signature is refused', async () => {
    const push = made.push(Buffer.from('{}'))
    expect((await verify(made, push)).kind).toBe('refused')
  })
})
