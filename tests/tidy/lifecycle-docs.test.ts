import { readFileSync } from 'node:fs'
import {
  type AttemptOutcome,
  type DeadLetterReason,
  ENTRY_STATES,
  ERROR_CLASSES,
  type FindingDecision,
  STATUS_CLASSES,
  type StatusClass,
  type StatusVerdict,
  type UncertainReason,
} from '@counterfoil/core'
import type { PausedReason } from '@counterfoil/db'
import { describe, expect, it } from 'vitest'

const docs = readFileSync(new URL('../../docs/delivery-lifecycle.md', import.meta.url), 'utf8')

/** The rows of the first table under a heading, each as its cells. */
function readTable(heading: string): string[][] {
  const rows =
    /(?:^\|.*\|\n)+/m
      .exec(docs.slice(docs.indexOf(heading)))?.[0]
      .trimEnd()
      .split('\n') ?? []
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

const firstCells = (heading: string) => readTable(heading).map(([cell = '']) => cell.replaceAll('`', ''))

type FoundReason = Extract<FindingDecision, { kind: 'dead_letter' }>['because']

// Records, so that the compiler refuses a list from which one is missing.
const OUTCOMES: Record<AttemptOutcome['kind'], true> = {
  accepted: true,
  rejected: true,
  unauthorised: true,
  deferred: true,
  not_sent: true,
  uncertain: true,
}
const REASONS: Record<UncertainReason | DeadLetterReason | FoundReason, true> = {
  no_key: true,
  key_window_closed: true,
  rejected_after_doubt: true,
  rejected_for_all: true,
  retry_tells_nothing: true,
  attempts_used_up: true,
  too_old: true,
  rejected: true,
  unsendable: true,
  did_not: true,
}
const PAUSES: Record<PausedReason, true> = { throttled: true, credentials: true, gone: true, operator: true }

function describeStatuses({ statuses }: StatusClass): string {
  return statuses.map((item) => (typeof item === 'number' ? item : `${item[0]}–${item[1]}`)).join(', ')
}

function describeVerdict(verdict: StatusVerdict): string {
  switch (verdict.kind) {
    case 'accepted':
    case 'unauthorised':
    case 'deferred':
      return `\`${verdict.kind}\``
    case 'rejected':
      return `\`rejected\` (${verdict.reason})`
    case 'not_processed':
      return '`not_sent` (not_processed)'
    case 'uncertain':
      return `\`uncertain\` (${verdict.cause})${verdict.retryTellsNothing ? ', held' : ''}`
    case 'in_progress_with_key':
      return '`uncertain` (in_progress), without a key `rejected`'
  }
}

describe('docs/delivery-lifecycle.md', () => {
  it('tells what each status proves exactly as the table that decides', () => {
    const decided = STATUS_CLASSES.map((row) => [describeStatuses(row), describeVerdict(row.verdict), row.why])
    expect(readTable('## What a status proves')).toEqual(decided)
  })

  it('tells what a failure before sending is called exactly as the table that names it', () => {
    const named = ERROR_CLASSES.map(({ cause, why }) => [
      `\`${cause}\`${cause === 'unsendable' ? ' (rejected)' : ''}`,
      why,
    ])
    expect(readTable('## What a failure before sending')).toEqual(named)
  })

  it('names every outcome, every reason and every pause', () => {
    expect(firstCells('## What an attempt is known').sort()).toEqual(Object.keys(OUTCOMES).sort())
    expect(firstCells('## Why an entry is held').sort()).toEqual(Object.keys(REASONS).sort())
    expect(firstCells('## Why a destination is paused').sort()).toEqual(Object.keys(PAUSES).sort())
  })

  it('draws every state, and none that there is not', () => {
    const chart = /```mermaid\n([\s\S]*?)```/.exec(docs)?.[1] ?? ''
    const drawn = new Set([...chart.matchAll(/\b([a-z_]+) -->|--> ([a-z_]+)/g)].map((match) => match[1] ?? match[2]))
    const pending = ['due', 'leased', 'waiting', 'parked']
    expect([...drawn].sort()).toEqual([...ENTRY_STATES.filter((state) => state !== 'pending'), ...pending].sort())
  })
})
