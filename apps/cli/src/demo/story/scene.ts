import type { VerdictKind } from '@counterfoil/core'
import type { DemoSystem } from '../system/demo-system.js'

/** One fact that a scene looked up, and what it should be. `by` says whose word it is. */
export type Finding = {
  readonly by: 'queue' | 'crm' | 'mailer' | 'carrier' | 'database' | 'counterfoil'
  readonly what: string
  readonly expected: string
  readonly found: string
  readonly ok: boolean
}

export type SceneContext = {
  readonly system: DemoSystem
  /** Names of this run, e.g. `name('ticket', 0)` → `ticket-4821`. */
  readonly name: (kind: 'ticket' | 'seat' | 'hold', index: number) => string
  readonly look: (by: Finding['by'], what: string, found: unknown, expected: unknown) => void
}

export type Scene = {
  /** Which example, in the order of the story. */
  readonly example: 'support-notifications' | 'media-reservations' | 'logistics-holds'
  /** What happens, in one sentence for a stranger. */
  readonly tells: string
  /** What `counterfoil show` is asked for, and what it must answer; `null`: there is nothing on record to show. */
  readonly shows: (name: SceneContext['name']) => string
  readonly verdict: VerdictKind
  readonly play: (context: SceneContext) => Promise<void>
}

/** Scenes of one group run at the same time; a group waits for the one before it. */
export type SceneGroup = readonly Scene[]
