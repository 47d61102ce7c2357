import type { VerdictKind } from '@counterfoil/core'
import type { Paint } from '../terminal/terminal.js'

type Mark = { readonly mark: string; readonly colour: 'green' | 'yellow' | 'red' | 'magenta' | 'gray' }

/** One shape per kind, so that nobody has to see colours; magenta is for Unknown alone. */
const MARKS: Readonly<Record<VerdictKind, Mark>> = {
  unknown: { mark: '◈', colour: 'magenta' },
  possibly_delivered_more_than_once: { mark: '‼', colour: 'red' },
  not_delivered_yet: { mark: '↻', colour: 'yellow' },
  not_delivered: { mark: '✘', colour: 'red' },
  delivered_repeat_ignored: { mark: '✔✔', colour: 'green' },
  delivered_once: { mark: '✔', colour: 'green' },
  quarantined: { mark: '▣', colour: 'yellow' },
  waiting: { mark: '○', colour: 'gray' },
  never_queued: { mark: '∅', colour: 'red' },
  no_record: { mark: '∅', colour: 'gray' },
  nothing_to_do: { mark: '–', colour: 'gray' },
  ignored: { mark: '–', colour: 'gray' },
  done: { mark: '✔', colour: 'green' },
}

export function paintVerdict(paint: Paint, kind: VerdictKind, label: string): string {
  const { mark, colour } = MARKS[kind]
  return paint.bold(paint[colour](`${mark} ${label}`))
}
