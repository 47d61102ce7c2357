/** The source of deliveries that nobody pushed: what the sweep applied is claimed under it, and no source may take it. */
export const SWEEP_SOURCE = 'sweep'
