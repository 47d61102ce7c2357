// Loaded with `node --import` into a receiver or worker of the demo: its wall clock is off by DEMO_CLOCK_SKEW_MS.
// The monotonic clock stays right, as it does on a real machine whose date is wrong.
const skewMs = Number(process.env.DEMO_CLOCK_SKEW_MS ?? 0)
const RealDate = Date

class SkewedDate extends RealDate {
  constructor(...args: [] | [number | string | Date]) {
    if (args.length === 0) super(RealDate.now() + skewMs)
    else super(...args)
  }

  static override now(): number {
    return RealDate.now() + skewMs
  }
}

globalThis.Date = SkewedDate as DateConstructor
