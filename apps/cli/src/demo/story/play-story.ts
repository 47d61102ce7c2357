import type { VerdictKind } from '@counterfoil/core'
import type { DemoSystem } from '../system/demo-system.js'
import { waitUntil } from '../system/wait-until.js'
import { LOGISTICS_SCENES, wrongClocks } from './logistics-scenes.js'
import { MEDIA_SCENES } from './media-scenes.js'
import { NO_RECORD, type ReadVerdict, readVerdict } from './read-verdict.js'
import type { Finding, Scene, SceneContext, SceneGroup } from './scene.js'
import { SUPPORT_SCENES } from './support-scenes.js'

/** How one scene ended: the verdict, and what the peers' ledgers say. */
export type SceneResult = ReadVerdict & {
  readonly example: Scene['example']
  readonly tells: string
  readonly shows: string
  readonly expectedVerdict: VerdictKind
  readonly findings: readonly Finding[]
  /** Why the scene could not be played to its end. */
  readonly broken: string | null
  readonly ok: boolean
  readonly durationMs: number
}

const alone = (scenes: readonly Scene[]): SceneGroup[] => scenes.map((scene) => [scene])

export const STORY: readonly SceneGroup[] = [
  SUPPORT_SCENES.together,
  ...alone(SUPPORT_SCENES.alone),
  MEDIA_SCENES.together,
  ...alone(MEDIA_SCENES.alone),
  MEDIA_SCENES.storeFaults,
  LOGISTICS_SCENES.together,
  ...alone(LOGISTICS_SCENES.alone),
]

/** What is played while services are killed: the scenes that break nothing themselves. */
export const KILL_STORY: readonly SceneGroup[] = [
  SUPPORT_SCENES.together,
  MEDIA_SCENES.together,
  LOGISTICS_SCENES.together.filter((scene) => scene !== wrongClocks),
]

/** First numbers of the first run; each run of a kept database takes the next twenty. */
const FIRST = { ticket: ['ticket-', 4821], seat: ['seat-', 301], hold: ['R-', 1842] } as const
const NUMBERS_PER_RUN = 20

export function nameSubjects(run: number): SceneContext['name'] {
  return (kind, index) => `${FIRST[kind][0]}${FIRST[kind][1] + (run - 1) * NUMBERS_PER_RUN + index}`
}

/** A number for this run, kept in the database. */
export async function beginRun({ database }: DemoSystem): Promise<number> {
  const { rows } = await database.pool.query<{ number: number }>('INSERT INTO demo.run DEFAULT VALUES RETURNING number')
  return rows[0]?.number ?? 1
}

/** Plays every scene and hands each result on in the story's order. Waits for none any more when it is interrupted. */
export async function playStory(
  system: DemoSystem,
  options: {
    readonly groups: readonly SceneGroup[]
    readonly name: SceneContext['name']
    readonly interrupted: AbortSignal
    readonly onScene: (result: SceneResult) => void
  },
): Promise<readonly SceneResult[]> {
  const results: SceneResult[] = []
  const aborted = whenAborted(options.interrupted)
  for (const group of options.groups) {
    if (options.interrupted.aborted) break
    const playing = group.map((scene) => playScene(system, scene, options.name))
    for (const scene of playing) {
      const result = await Promise.race([scene, aborted])
      if (result === null) return results
      results.push(result)
      options.onScene(result)
    }
  }
  return results
}

function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
}

/** Plays one scene to its end and reads its verdict. Never throws: what went wrong is in the result. */
export async function playScene(system: DemoSystem, scene: Scene, name: SceneContext['name']): Promise<SceneResult> {
  const startedAt = performance.now()
  const findings: Finding[] = []
  const look: SceneContext['look'] = (by, what, found, expected) => {
    const [foundText, expectedText] = [JSON.stringify(found), JSON.stringify(expected)]
    const ok = foundText === expectedText
    findings.push({ by, what, found: foundText ?? 'nothing', expected: expectedText ?? 'nothing', ok })
  }
  const shows = scene.shows(name)
  const broken = await scene.play({ system, name, look }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  const read = await settleVerdict(system, shows, scene.verdict)
  look('counterfoil', 'verdict', read.verdict.kind, scene.verdict)
  return {
    example: scene.example,
    tells: scene.tells,
    shows,
    expectedVerdict: scene.verdict,
    findings,
    broken,
    ok: broken === null && findings.every((finding) => finding.ok),
    durationMs: Math.round(performance.now() - startedAt),
    ...read,
  }
}

/** The peer's ledger may be a moment ahead of the attempt's record: waits for the verdict, then takes what there is. */
async function settleVerdict(system: DemoSystem, shows: string, wanted: VerdictKind): Promise<ReadVerdict> {
  const read = () => readVerdict(system.database, shows, wanted)
  return waitUntil(
    `the verdict on ${shows}`,
    async () => {
      const now = await read()
      return now.verdict.kind === wanted && now
    },
    10_000,
  )
    .catch(read)
    .catch(() => NO_RECORD)
}
