import { describe, expect, it } from 'vitest'
import { makeFigure, median } from './figure.js'

describe('a figure', () => {
  it('is the median of the ratios pair by pair, so that a machine that drifts between pairs does not lie', () => {
    const figure = makeFigure({
      id: 'x',
      atLeast: 1,
      unit: 'per second',
      ours: [100, 50, 90],
      peer: [50, 25, 30],
      note: '',
    })
    expect(figure.ratio).toBe(2)
  })

  it('takes the mean of the two middle values of an even number', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })
})
