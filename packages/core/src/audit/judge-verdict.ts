import { judgeEntry } from './judge-entry.js'
import { judgeNoActions } from './judge-no-actions.js'
import { judgeNothing, judgeUnclaimed } from './judge-unclaimed.js'
import type { Verdict } from './verdict.js'
import type { VerdictFacts } from './verdict-facts.js'

/**
 * The one place where evidence becomes the sentence that support reads. Pure: the same facts give the same words.
 * Whatever may have taken effect is never called "not delivered" (I6).
 */
export function judgeVerdict(facts: VerdictFacts): Verdict {
  switch (facts.kind) {
    case 'entry':
      return judgeEntry(facts.entry, facts.readAt)
    case 'no_actions':
      return judgeNoActions(facts.timeline)
    case 'never_claimed':
      return judgeUnclaimed(facts.arrivals)
    case 'nothing':
      return judgeNothing(facts.query, facts.earliestKeptAt)
  }
}
