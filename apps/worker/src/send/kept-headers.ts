import { ANSWER_HEADERS, type DestinationContract } from '@counterfoil/core'
import type { KeptHeaders } from './exchange.js'

/** Which headers of an answer the rules of this destination can ask for. */
export function listKeptHeaders({ matchers, replayMarkers }: DestinationContract): KeptHeaders {
  const ofRules = [
    ...replayMarkers.map(({ header }) => header.toLowerCase()),
    ...matchers.flatMap(({ headers }) => headers.map(({ header }) => header.toLowerCase())),
  ]
  // A matcher may make a "not now" of a success (an error told with 200), and then the wish to wait counts.
  const mayDefer = matchers.length > 0
  const ofOthers = [...new Set([...ANSWER_HEADERS, ...ofRules])]
  return { ofSuccess: mayDefer ? ofOthers : [...new Set(ofRules)], ofOthers }
}
