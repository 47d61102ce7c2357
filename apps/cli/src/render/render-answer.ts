import {
  type Counters,
  formatInstant,
  listEvents,
  listUnclaimedEvents,
  type TimelineEvent,
  type Verdict,
} from '@counterfoil/core'
import type { Answer, ArrivalAnswer, DeliveryAnswer, QueryAnswer } from '../audit/answer-query.js'
import type { Paint } from '../terminal/terminal.js'
import { escapeForTerminal } from './escape-for-terminal.js'
import { paintVerdict } from './verdict-mark.js'
import { wrapText } from './wrap-text.js'

/** More matches than this are listed, and only the newest is told in full. */
const TOLD_IN_FULL = 3

/** What a person reads: the verdict first, then the numbers, then the evidence. Every outside text is escaped. */
export function renderAnswers(answer: QueryAnswer, paint: Paint, all: boolean): string {
  if (answer.nothing !== null) return lines([...verdictLines(answer.nothing, paint, ''), ''])
  const { answers } = answer
  const told = all || answers.length <= TOLD_IN_FULL ? answers : answers.slice(0, 1)
  const listed = answers.length === 1 ? [] : [...renderList(answer, paint), '']
  return lines([...listed, ...told.flatMap((one) => [...renderAnswer(one, paint), ''])])
}

function renderList({ query, answers, cut }: QueryAnswer, paint: Paint): string[] {
  const more = cut ? 'more than ' : ''
  return [
    `${more}${answers.length} matches for ${escapeForTerminal(query)}, newest first`,
    ...answers.map((one) => {
      const headline = headlineOf(one)
      const at = one.kind === 'delivery' ? one.timeline.delivery.claimedAt : lastSeen(one)
      return `  ${formatInstant(at)}  ${paintVerdict(paint, headline.kind, headline.label)}  ${escapeForTerminal(nameOf(one))}`
    }),
  ]
}

function renderAnswer(answer: Answer, paint: Paint): string[] {
  return answer.kind === 'delivery' ? renderDelivery(answer, paint) : renderArrivals(answer, paint)
}

function renderDelivery({ timeline, verdict }: DeliveryAnswer, paint: Paint): string[] {
  const { delivery, references } = timeline
  const named = references.map(({ name, value }) => `${name} ${value ?? '(personal)'}`)
  const first = verdict.entries[0]
  const single = verdict.entries.length === 1 && first !== undefined
  return [
    paint.bold(escapeForTerminal(delivery.eventType ?? 'delivery')) +
      escapeForTerminal(` from ${delivery.source}, ${named.length === 0 ? 'no references' : named.join(', ')}`),
    paint.dim(escapeForTerminal(`delivery ${delivery.deliveryId}  ·  our id ${delivery.id}`)),
    '',
    ...(verdict.entries.length > 1
      ? [headline(verdict, paint), ...wordActions(verdict)]
      : verdictLines(verdict.headline, paint, single ? first.entry.destination : '')),
    counterLine(verdict.counters, timeline.counts.conflicts),
    ...(single ? [entryLine(first.entry.id, first.entry.idempotencyKey, paint)] : []),
    ...(verdict.entries.length > 1 ? verdict.entries.flatMap((one) => renderEntry(one, paint)) : []),
    '',
    paint.bold('Timeline (UTC)'),
    ...renderEvents(listEvents(timeline), paint),
    ...(timeline.cut ? [paint.dim('  … some of it is left out here, because there is so much of it')] : []),
  ]
}

function renderEntry(
  { entry, verdict, counters }: DeliveryAnswer['verdict']['entries'][number],
  paint: Paint,
): string[] {
  const counted = `attempts ${counters.attempts} · confirmed ${counters.confirmed} · unknown ${counters.unknown}`
  return [
    '',
    `${paint.bold(escapeForTerminal(entry.destination))}  ${paint.dim(counted)}`,
    ...verdictLines(verdict, paint, '').map((line) => `  ${line}`),
    `  ${entryLine(entry.id, entry.idempotencyKey, paint)}`,
  ]
}

function entryLine(id: string, key: string, paint: Paint): string {
  return paint.dim(escapeForTerminal(`entry ${id}  ·  key ${key}`))
}

function renderArrivals({ arrivals, verdict }: ArrivalAnswer, paint: Paint): string[] {
  return [
    escapeForTerminal(`delivery ${arrivals.deliveryId} from ${arrivals.source}, never claimed`),
    '',
    ...verdictLines(verdict, paint, ''),
    `pushes ${arrivals.counts.refused + arrivals.counts.unclaimed} · nothing claimed`,
    '',
    paint.bold('Timeline (UTC)'),
    ...renderEvents(listUnclaimedEvents(arrivals), paint),
  ]
}

/** The least certain verdict of several actions; its sentence stands below, with the action it is about. */
function headline({ headline: { kind, label }, entries }: DeliveryAnswer['verdict'], paint: Paint): string {
  const alike = entries.filter((one) => one.verdict.kind === kind).length
  const count = alike === 0 ? `${entries.length} actions` : `${alike} of ${entries.length} actions`
  return `${paintVerdict(paint, kind, escapeForTerminal(label))} · ${count}`
}

/** Where people sent something again as new, the headline's own sentence says what no single action can say. */
function wordActions({ headline: { sentence }, entries }: DeliveryAnswer['verdict']): string[] {
  const isSaidBelow = entries.every(({ entry }) => entry.again === null)
  return isSaidBelow ? [] : wrapText(escapeForTerminal(sentence), '  ')
}

function verdictLines(verdict: Verdict, paint: Paint, about: string): string[] {
  const { advice } = verdict
  return [
    paintVerdict(paint, verdict.kind, escapeForTerminal(verdict.label)) +
      (about === '' ? '' : ` · ${escapeForTerminal(about)}`),
    ...wrapText(escapeForTerminal(verdict.sentence), '  '),
    ...(advice.name === 'nothing' ? [] : wrapText(escapeForTerminal(`What to do: ${advice.text}`), '  ')),
    // On a line of its own, never broken: it is there to be copied.
    ...(advice.command === null ? [] : [`    ${escapeForTerminal(advice.command)}`]),
  ]
}

function counterLine({ pushes, repeats, attempts, confirmed, unknown }: Counters, conflicts: number): string {
  const absorbed = repeats === 0 ? '' : ` (${repeats} ${repeats === 1 ? 'repeat' : 'repeats'} absorbed)`
  const conflicting = conflicts === 0 ? '' : ` (${conflicts} with other content)`
  return `pushes ${pushes}${absorbed}${conflicting} · attempts ${attempts} · confirmed ${confirmed} · unknown ${unknown}`
}

function renderEvents(events: readonly TimelineEvent[], paint: Paint): string[] {
  return events.flatMap((event) => {
    const text = escapeForTerminal(event.text)
    const facts = event.facts.map(escapeForTerminal).join('  ·  ')
    return [
      `  ${paint.dim(formatInstant(event.at))}  ${event.flagged ? paint.yellow(`! ${text}`) : `  ${text}`}`,
      ...(facts === '' ? [] : [paint.dim(`${' '.repeat(30)}${facts}`)]),
    ]
  })
}

export function headlineOf(answer: Answer): Verdict {
  return answer.kind === 'delivery' ? answer.verdict.headline : answer.verdict
}

function nameOf(answer: Answer): string {
  if (answer.kind === 'never_claimed') return `${answer.arrivals.source} ${answer.arrivals.deliveryId}`
  const { source, eventType, deliveryId } = answer.timeline.delivery
  return `${eventType ?? '-'}  ${source} ${deliveryId}`
}

function lastSeen({ arrivals }: ArrivalAnswer): number {
  return Math.max(arrivals.refusals.at(-1)?.observedAt ?? 0, arrivals.unclaimed.at(-1)?.seenAt ?? 0)
}

function lines(all: readonly string[]): string {
  return `${all.join('\n').trimEnd()}\n`
}
