/** One claim about speed: ours against a peer's in the same run, pair by pair. */
export type Figure = {
  readonly id: string
  /** Median of the pairs' ratios, ours to the peer's. */
  readonly ratio: number
  /** What the project promises at least; `null`: told for comparison, promised nothing. */
  readonly atLeast: number | null
  readonly unit: string
  readonly ours: readonly number[]
  readonly peer: readonly number[]
  readonly note: string
}

export function makeFigure(parts: Omit<Figure, 'ratio'>): Figure {
  const ratios = parts.ours.map((value, pair) => value / (parts.peer[pair] ?? Number.NaN))
  return { ...parts, ratio: Math.round(median(ratios) * 100) / 100 }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
