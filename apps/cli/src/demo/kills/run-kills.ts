import { beginRun, KILL_STORY, nameSubjects, playStory, type SceneResult } from '../story/play-story.js'
import type { DemoSystem } from '../system/demo-system.js'
import { judgeKills } from './judge-kills.js'
import { type Kill, killServices } from './kill-services.js'
import { createSeededRandom } from './seeded-random.js'

export type KillRun = {
  readonly seed: number
  readonly kills: readonly Kill[]
  readonly scenes: readonly SceneResult[]
  readonly problems: readonly string[]
}

/** Plays the story over and over while receiver and worker are killed with -9, then judges what is left. */
export async function runKills(
  system: DemoSystem,
  options: {
    readonly kills: number
    readonly seed: number
    readonly say: (text: string) => void
    readonly interrupted: AbortSignal
  },
): Promise<KillRun> {
  const { seed, say, interrupted } = options
  say(`\nKilling receiver and worker ${options.kills} times with -9, seed ${seed}.\n\n`)
  const killing = killServices(system, {
    kills: options.kills,
    random: createSeededRandom(seed),
    prefix: `ticket-kill-${await beginRun(system)}`,
    interrupted,
    onKill: (kill) => say(describeKill(kill)),
  })
  const done = new AbortController()
  const ended = killing.finally(() => done.abort())
  const scenes: SceneResult[] = []
  const stop = AbortSignal.any([interrupted, done.signal])
  while (!stop.aborted) {
    const name = nameSubjects(await beginRun(system))
    // The round that is being played when the last kill comes is played to its end.
    const played = await playStory(system, { groups: KILL_STORY, name, interrupted, onScene: () => {} })
    scenes.push(...played)
  }
  const kills = await ended
  return { seed, kills, scenes, problems: await judgeKills(system, kills, scenes) }
}

function describeKill(kill: Kill): string {
  const moment = kill.inSendWindow ? 'while the CRM had the request' : 'at a random moment'
  return `  ${String(kill.number).padStart(2)}  ${kill.role} ${moment}: ready after ${kill.readyAgainMs} ms, flowing after ${kill.flowedAgainMs} ms\n`
}
