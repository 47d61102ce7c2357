import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beginRun, nameSubjects, playScene, type SceneResult, STORY } from './story/play-story.js'
import type { Scene } from './story/scene.js'
import { nameDemoFiles } from './system/demo-files.js'
import { type DemoSystem, startDemoSystem } from './system/demo-system.js'

/** The demo's system in a directory of its own, for tests that play single scenes. */
export type Demo = {
  readonly system: DemoSystem
  readonly play: (scene: Scene) => Promise<SceneResult>
  /** Stops everything and removes the directory. */
  readonly close: () => Promise<void>
}

export async function openDemo(): Promise<Demo> {
  const home = makeTemporaryHome()
  const remove = () => rmSync(home, { recursive: true, force: true })
  try {
    const system = await startDemoSystem(nameDemoFiles(home))
    const name = nameSubjects(await beginRun(system))
    return {
      system,
      play: (scene) => playScene(system, scene, name),
      close: async () => {
        await system.stop()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

export function scenesOf(example: Scene['example']): readonly Scene[] {
  return STORY.flat().filter((scene) => scene.example === example)
}

/** The database may run as another user, who must be able to enter. */
export function makeTemporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'counterfoil-demo-'))
  chmodSync(home, 0o755)
  return home
}
