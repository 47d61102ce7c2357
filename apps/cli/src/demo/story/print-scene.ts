import type { Terminal } from '../../terminal/terminal.js'
import type { SceneResult } from './play-story.js'

const WIDTH = 96

const HEADINGS: Readonly<Record<SceneResult['example'], string>> = {
  'support-notifications': 'Support notifications: ticket events go to a CRM',
  'media-reservations': 'Media reservations: held seats expire, paid ones stay paid',
  'logistics-holds': 'Logistics holds: the database clock decides, the carrier is told once',
}

/** Prints a scene as a person reads it: what happened, the verdict, and the command that shows it. */
export function createScenePrinter(write: (text: string) => void, paint: Terminal['paint']) {
  let example: SceneResult['example'] | null = null
  return (scene: SceneResult): void => {
    if (scene.example !== example) {
      example = scene.example
      write(`\n${paint.bold(HEADINGS[example])}\n`)
    }
    write(`\n${wrap(scene.tells, '  ')}`)
    write(`    ${paint.bold(scene.verdict.label)} ${paint.dim(`· ${describeCounters(scene)}`)}\n`)
    write(`    ${paint.cyan(`npx counterfoil show ${scene.shows}`)}  ${describeFindings(scene, paint)}\n`)
    if (scene.broken !== null) write(`    ${paint.red(`✗ it could not be played to its end: ${scene.broken}`)}\n`)
    for (const { by, what, found, expected } of scene.findings.filter((one) => !one.ok)) {
      write(`    ${paint.red(`✗ ${by}, ${what}: ${found}, not ${expected}`)}\n`)
    }
  }
}

function describeCounters({ counters }: SceneResult): string {
  const { pushes, repeats, attempts, confirmed, unknown } = counters
  const parts = [`${pushes} ${pushes === 1 ? 'push' : 'pushes'}${repeats > 0 ? ` (${repeats} repeated)` : ''}`]
  if (attempts > 0) {
    parts.push(`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`, `${confirmed} confirmed`, `${unknown} unknown`)
  }
  return parts.join(' · ')
}

/** How much of it somebody other than Counterfoil confirms. */
function describeFindings({ findings }: SceneResult, paint: Terminal['paint']): string {
  const others = findings.filter((one) => one.by !== 'counterfoil')
  const wrong = others.filter((one) => !one.ok).length
  if (wrong > 0) return paint.red(`${wrong} of ${others.length} facts on the other side differ`)
  return paint.green(`✓ ${others.length} facts on the other side agree`)
}

function wrap(text: string, indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > WIDTH - indent.length) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => `${indent}${one}\n`).join('')
}
