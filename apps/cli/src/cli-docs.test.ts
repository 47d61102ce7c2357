import { readFileSync } from 'node:fs'
import { VERDICT_LABELS } from '@counterfoil/core'
import { describe, expect, it } from 'vitest'
import { runCommand } from './cli.int-setup.js'
import { EXIT_MEANINGS } from './terminal/exit-codes.js'

const DOCS = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')

function table(heading: string): string[][] {
  const after = DOCS.slice(DOCS.indexOf(heading))
  const rows = /(?:^\|.*\|\n)+/m.exec(after)?.[0].trimEnd().split('\n') ?? []
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )
}

describe('docs/cli.md', () => {
  it('names every exit code as --help does', async () => {
    const documented = table('## Exit codes')
    expect(documented).toEqual([...EXIT_MEANINGS].map(([code, meaning]) => [String(code), meaning]))
    const { stdout } = await runCommand(['--help'], {})
    for (const [code, meaning] of documented) expect(stdout).toContain(`${code}  ${meaning}`)
  })

  it('names every command as --help does', async () => {
    const { stdout } = await runCommand(['--help'], {})
    const listed = stdout
      .slice(stdout.indexOf('Commands:'), stdout.indexOf('Exit codes:'))
      .matchAll(/^ {2}([a-z][a-z-]*)/gm)
    const documented = table('# The command line').map(([command]) => /^`([a-z][a-z-]*)/.exec(command ?? '')?.[1])
    expect([...new Set(documented)].sort()).toEqual([...listed].map((match) => match[1]).sort())
  })

  it('names every verdict', () => {
    for (const label of Object.values(VERDICT_LABELS)) expect(DOCS).toContain(label)
  })
})

describe('usage', () => {
  it('exits 0 for help and version, 2 for what it does not understand, with a hint', async () => {
    expect(await runCommand(['--version'], {})).toMatchObject({ code: 0, stderr: '' })
    expect(await runCommand(['show', '--help'], {})).toMatchObject({ code: 0, stderr: '' })
    expect(await runCommand([], {})).toMatchObject({ code: 2, stdout: '' })
    expect(await runCommand(['shwo'], {})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean show?'),
    })
    expect(await runCommand(['show'], {})).toMatchObject({ code: 2 })
    expect(await runCommand(['show', 'x', '--nope'], {})).toMatchObject({ code: 2 })
    expect(await runCommand(['migrate'], {})).toMatchObject({ code: 2 })
  })
})
