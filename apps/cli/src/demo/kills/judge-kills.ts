import type { VerdictKind } from '@counterfoil/core'
import type { SceneResult } from '../story/play-story.js'
import { type ReadVerdict, readVerdict } from '../story/read-verdict.js'
import type { DemoSystem } from '../system/demo-system.js'
import { waitUntil } from '../system/wait-until.js'
import type { Kill } from './kill-services.js'

/** A kill may turn "delivered" into an honest doubt or a recognised repeat. It may change nothing else. */
const ALLOWED: Readonly<Partial<Record<VerdictKind, readonly VerdictKind[]>>> = {
  delivered_once: ['delivered_once', 'delivered_repeat_ignored', 'unknown'],
  delivered_repeat_ignored: ['delivered_repeat_ignored', 'unknown'],
}

/** Longest time without any flow after a kill, ms. */
const FLOW_WITHIN_MS = 5000

/** Everything that must hold after the kills, as sentences about what does not. Empty: all is well. */
export async function judgeKills(
  system: DemoSystem,
  kills: readonly Kill[],
  scenes: readonly SceneResult[],
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const kill of kills) {
    if (kill.flowedAgainMs > FLOW_WITHIN_MS) {
      problems.push(`after kill ${kill.number} (${kill.role}) nothing flowed for ${kill.flowedAgainMs} ms`)
    }
    const { verdict } = await readFinal(system, kill.ticket)
    if (!isAllowed('delivered_once', verdict.kind)) problems.push(`${kill.ticket} ended as ${verdict.label}`)
  }
  for (const scene of scenes) {
    if (scene.broken !== null) problems.push(`${scene.shows} could not be played to its end: ${scene.broken}`)
    else if (!isAllowed(scene.expectedVerdict, scene.verdict.kind)) {
      problems.push(`${scene.shows} ended as ${scene.verdict.label} instead of ${scene.expectedVerdict}`)
    }
  }
  return [...problems, ...(await findSecondActions(system))]
}

function isAllowed(expected: VerdictKind, found: VerdictKind): boolean {
  return (ALLOWED[expected] ?? [expected]).includes(found)
}

/** Waits until nothing is under way for the ticket any more: a killed worker's lease has to run out first. */
function readFinal(system: DemoSystem, ticket: string): Promise<ReadVerdict> {
  const read = () => readVerdict(system.database, ticket, 'delivered_once')
  return waitUntil(
    `the end of ${ticket}`,
    async () => {
      const now = await read()
      return now.verdict.kind !== 'not_delivered_yet' && now.verdict.kind !== 'no_record' && now
    },
    30_000,
  ).catch(read)
}

/** By the destinations' own ledgers: one subject, one action at most. */
async function findSecondActions(system: DemoSystem): Promise<string[]> {
  const problems: string[] = []
  for (const name of ['crm', 'mailer', 'carrier'] as const) {
    const counts = new Map<string, number>()
    for (const line of await system[name].lines({ kind: 'effect' })) {
      const what = `${line.about} ${line.key}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    for (const [what, count] of counts) if (count > 1) problems.push(`the ${name} acted ${count} times on ${what}`)
  }
  return problems
}
