import type { PushRequest } from '@counterfoil/core'
import { FAMILY_CASES, type FamilyCase } from './family-cases.js'
import { median } from './figure.js'

/** What verification alone costs; without a promise, since there is no peer to hold it against. */
export type VerificationFigure = {
  readonly family: string
  readonly bodyBytes: number
  readonly pushesPerSecond: number
}

export const BODY_SIZES = [200, 10_000, 250_000] as const

/** Signs one push per family and size, and verifies it again and again: one push at a time, on one core. */
export async function measureFamilies(rounds: number, roundMs: number): Promise<readonly VerificationFigure[]> {
  const figures: VerificationFigure[] = []
  for (const one of FAMILY_CASES) {
    for (const bodyBytes of BODY_SIZES) {
      const pushesPerSecond = await measureCase(one, bodyBytes, rounds, roundMs)
      figures.push({ family: one.family, bodyBytes, pushesPerSecond: Math.round(pushesPerSecond) })
    }
  }
  return figures
}

async function measureCase(one: FamilyCase, bodyBytes: number, rounds: number, roundMs: number): Promise<number> {
  const now = Date.now()
  const request = await signRequest(one, bodyBytes, now)
  const verify = () => one.scheme.verify(request, one.keys, now, one.material)
  const first = await verify()
  if (first.kind !== 'verified') throw new Error(`${one.family} refused its own push: ${first.cause}`)
  await runFor(verify, roundMs / 3)
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) rates.push(await runFor(verify, roundMs))
  return median(rates)
}

async function signRequest(one: FamilyCase, bodyBytes: number, now: number): Promise<PushRequest> {
  if (one.scheme.sign === null) throw new Error(`${one.family} can't sign`)
  const signed = await one.scheme.sign(one.push(bodyBytes), one.signingKey, now)
  const headers = new Map(Object.entries(signed.headers).map(([name, value]) => [name, [value]] as const))
  const query = new URL(signed.publicUrl ?? '').search
  return { ...signed, headers, query }
}

/** Verifications a second. What answers at once is not awaited, as in the receiver. */
async function runFor(verify: () => unknown, ms: number): Promise<number> {
  const startedAt = performance.now()
  let count = 0
  let elapsed = 0
  while (elapsed < ms) {
    for (let index = 0; index < 8; index++) {
      const verdict = verify()
      if (verdict instanceof Promise) await verdict
    }
    count += 8
    elapsed = performance.now() - startedAt
  }
  return (count * 1000) / elapsed
}

export function describeFamilies(figures: readonly VerificationFigure[]): string {
  const families = [...new Set(figures.map(({ family }) => family))]
  const cell = (family: string, bytes: number) =>
    String(figures.find((one) => one.family === family && one.bodyBytes === bytes)?.pushesPerSecond ?? '').padStart(10)
  const head = `verify_families: verifications per second on one core (no promise)\n  ${'body'.padEnd(34)}${BODY_SIZES.map((bytes) => `${bytes / 1000} kB`.padStart(10)).join('')}\n`
  return head + families.map((f) => `  ${f.padEnd(34)}${BODY_SIZES.map((bytes) => cell(f, bytes)).join('')}\n`).join('')
}
