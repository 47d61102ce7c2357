import type { AttemptOutcome } from './outcome.js'

/** The lease ran out with its attempt open: the worker may have sent anything. */
export function workerLost(): AttemptOutcome {
  return { kind: 'uncertain', phase: 'worker_lost', cause: 'lease_expired', status: null, notBefore: null }
}

/** The lease was given back, or its time had come before a byte left. */
export function leaseReturned(): AttemptOutcome {
  return { kind: 'not_sent', cause: 'lease_returned', code: null }
}

/** `judgeLease` said that this entry must not be sent any more. */
export function heldBack(): AttemptOutcome {
  return { kind: 'not_sent', cause: 'held_back', code: null }
}
