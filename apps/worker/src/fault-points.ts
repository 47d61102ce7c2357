/** Places where a test may stop, stall or kill the worker. In production nothing is there. */
export type FaultPoint = 'leased' | 'sent' | 'closed'
export type FaultPoints = (point: FaultPoint) => Promise<void> | undefined

export const noFaults: FaultPoints = () => undefined
