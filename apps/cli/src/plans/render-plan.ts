import { formatSecond, type PlanProgress } from '@counterfoil/core'
import type { PlanItem, PlanOnRecord, PlanStatus } from '@counterfoil/db'
import { escapeForTerminal } from '../render/escape-for-terminal.js'
import { toSnakeCase } from '../render/to-snake-case.js'

/** So many entries are named; `--json` has them all. */
const SAMPLES = 5

export const STATUS_WORDS: Readonly<Record<PlanStatus, string>> = {
  ready: 'not run yet: nothing has changed',
  running: 'running',
  interrupted: 'interrupted: run it again to go on',
  stopped: 'stopped by a person: run it again to go on',
  canary_failed: 'stopped: one of the first entries failed again',
  canary_late: 'stopped: the first entries had not succeeded in time',
  too_many_failures: 'stopped: too many entries failed again',
  superseded: 'ended: another run has taken over',
  done: 'done',
}

/** What a plan would do or has done, for people. */
export function renderPlan(plan: PlanOnRecord, items: readonly PlanItem[]): string {
  const { included, excluded, filter, progress } = plan
  const count = included.reduce((sum, group) => sum + group.count, 0)
  const left = excluded.reduce((sum, group) => sum + group.count, 0)
  const lines = [
    `plan ${plan.id}: ${plan.action} ${count} of ${count + left} entries for ${filter.destination}`,
    `  made by ${plan.madeBy} at ${formatSecond(plan.madeAt)}: ${plan.reason}`,
    `  ${STATUS_WORDS[plan.status]}`,
    ...(plan.cut
      ? [`  more entries match than the ${filter.limit} in it; the newer ones need a plan of their own`]
      : []),
    ...included.map((group) => `  + ${group.count} ${group.state.replace('_', ' ')}${wordReason(group.reason)}`),
    ...sampleLines(items),
    ...excluded.map((group) => `  - ${group.count} left out (${group.because}): ${group.why}`),
    ...(plan.status === 'ready' ? [] : [`  ${wordProgress(progress)}`, ...skippedLines(items)]),
    ...(progress.remaining > 0 && plan.status !== 'running' ? [`next: counterfoil plan run ${plan.id}`] : []),
  ]
  return `${lines.map(escapeForTerminal).join('\n')}\n`
}

function wordReason(reason: string | null): string {
  return reason === null ? '' : ` (${reason})`
}

function sampleLines(items: readonly PlanItem[]): readonly string[] {
  const included = items.filter((item) => item.included)
  const names = included.slice(0, SAMPLES).map((item) => `      ${item.entry}`)
  return included.length > SAMPLES ? [...names, `      … and ${included.length - SAMPLES} more (--json)`] : names
}

function skippedLines(items: readonly PlanItem[]): readonly string[] {
  const skipped = items.filter((item) => item.result === 'skipped')
  const shown = skipped.slice(0, SAMPLES).map((item) => `  skipped ${item.entry}: ${item.resultWhy ?? ''}`)
  return skipped.length > SAMPLES ? [...shown, `  … and ${skipped.length - SAMPLES} more (--json)`] : shown
}

/** `done 12 of 40 · succeeded 10 · failed 1 · under way 1 · skipped 2`. */
export function wordProgress({ remaining, done, skipped, succeeded, failed, underWay }: PlanProgress): string {
  const all = remaining + done + skipped
  return `done ${done} of ${all} · succeeded ${succeeded} · failed ${failed} · under way ${underWay} · skipped ${skipped}`
}

/** The one document of `plan show --json`, and of a command that makes a plan. */
export function planDocument(plan: PlanOnRecord, items: readonly PlanItem[]): unknown {
  const { remaining, done, skipped, succeeded, failed, underWay } = plan.progress
  const progress = { remaining, done, skipped, succeeded, failed, underWay }
  const filter = { ...plan.filter, since: toIso(plan.filter.since), until: toIso(plan.filter.until) }
  return toSnakeCase({ schemaVersion: 1, ...plan, filter, progress, items })
}

function toIso(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
