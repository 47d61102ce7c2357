import { rmSync } from 'node:fs'
import { relative } from 'node:path'
import { EXIT, type ExitCode } from '../terminal/exit-codes.js'
import type { Terminal } from '../terminal/terminal.js'
import { runKills } from './kills/run-kills.js'
import { makeTemporaryHome } from './open-demo.js'
import { beginRun, nameSubjects, playStory, type SceneResult, STORY } from './story/play-story.js'
import { createScenePrinter } from './story/print-scene.js'
import { createSamplePush } from './story/sample-push.js'
import { type DemoFiles, nameDemoFiles } from './system/demo-files.js'
import { type DemoSystem, startDemoSystem } from './system/demo-system.js'

export type DemoOptions = {
  /** Keeps its data in `.counterfoil/` and goes on serving after the story, until Ctrl-C. */
  readonly serve: boolean
  /** Plays the story; without it the system only serves. */
  readonly story: boolean
  /** One document on stdout, everything else on stderr. */
  readonly json: boolean
  /** Kills receiver and worker with -9 that often while the story is played; 0: plays it in peace. */
  readonly kills: number
  readonly seed: number
}

/**
 * Plays the story against real processes. Exit code 0: every verdict and every ledger was as it should be; 1: not; 130:
 * interrupted before the story's end.
 */
export async function runDemo(terminal: Terminal, options: DemoOptions): Promise<ExitCode> {
  const say = options.json ? terminal.err : terminal.out
  const files = nameDemoFiles(options.serve ? '.counterfoil' : makeTemporaryHome())
  let code: ExitCode = EXIT.failure
  try {
    code = await runInHome(terminal, files, options)
    return code
  } finally {
    if (!options.serve && code === EXIT.failure) say(`Ledgers and logs are kept in ${files.home}.\n`)
    else if (!options.serve) rmSync(files.home, { recursive: true, force: true })
  }
}

async function runInHome(terminal: Terminal, files: DemoFiles, options: DemoOptions): Promise<ExitCode> {
  const say = options.json ? terminal.err : terminal.out
  say('Starting PostgreSQL, receiver, worker and the peers of the demo …\n\n')
  const system = await startDemoSystem(files)
  try {
    introduce(system, files, options, say, terminal.paint)
    return options.kills > 0 ? await playKills(system, terminal, options) : await play(system, terminal, options)
  } finally {
    await system.stop()
    if (options.serve) say('Stopped. The data stays in .counterfoil; npm start goes on with it.\n')
  }
}

async function play(system: DemoSystem, terminal: Terminal, options: DemoOptions): Promise<ExitCode> {
  const startedAt = performance.now()
  const say = options.json ? terminal.err : terminal.out
  const run = await beginRun(system)
  const name = nameSubjects(run)
  const onScene = createScenePrinter(say, terminal.paint)
  const groups = options.story ? STORY : []
  const results = await playStory(system, { groups, name, interrupted: terminal.interrupted, onScene })
  const durationMs = Math.round(performance.now() - startedAt)
  if (terminal.interrupted.aborted) return EXIT.interrupted
  if (options.story) conclude(results, durationMs, say, terminal.paint)
  if (options.json) terminal.out(`${JSON.stringify(describeRun(results, run, durationMs))}\n`)
  if (options.serve) await serve(system, name('ticket', 19), terminal)
  return results.every((result) => result.ok) ? EXIT.ok : EXIT.failure
}

async function playKills(system: DemoSystem, terminal: Terminal, options: DemoOptions): Promise<ExitCode> {
  const say = options.json ? terminal.err : terminal.out
  const { kills, seed } = options
  const run = await runKills(system, { kills, seed, say, interrupted: terminal.interrupted })
  if (terminal.interrupted.aborted) return EXIT.interrupted
  if (options.json) terminal.out(`${JSON.stringify({ schema_version: 1, ok: run.problems.length === 0, ...run })}\n`)
  for (const problem of run.problems) say(`${terminal.paint.red('✗')} ${problem}\n`)
  if (run.problems.length === 0) {
    const what = `No second action and no false verdict after ${run.kills.length} kills`
    say(`\n${terminal.paint.green('✓')} ${terminal.paint.bold(what)}, ${run.scenes.length} scenes played.\n`)
  }
  return run.problems.length === 0 ? EXIT.ok : EXIT.failure
}

type Say = (text: string) => void
type Paint = Terminal['paint']

function introduce(system: DemoSystem, files: DemoFiles, options: DemoOptions, say: Say, paint: Paint): void {
  const home = options.serve ? relative(process.cwd(), files.home) : files.home
  say(`${paint.bold('Counterfoil')} takes signed pushes, acts on each once, and can say what came of it.\n\n`)
  say(`  receiver  http://127.0.0.1:${system.receiverPort} · worker · PostgreSQL on 127.0.0.1, data in ${home}\n`)
  say(`  peers     a queue, a CRM, a mailer, a carrier: each a process with a ledger of its own in ${home}/ledgers\n`)
  say('  times     shortened: the first retry after 0.5 s, the sweep every second\n')
  for (const notice of system.notices) say(`  note      ${notice}\n`)
}

function conclude(results: readonly SceneResult[], durationMs: number, say: Say, paint: Paint): void {
  const wrong = results.filter((result) => !result.ok).length
  const seconds = (durationMs / 1000).toFixed(1)
  if (wrong === 0) {
    const all = `All ${results.length} verdicts are true by the ledgers of the peers`
    say(`\n${paint.green('✓')} ${paint.bold(all)} (${seconds} s).\n`)
  } else {
    say(
      `\n${paint.red('✗')} ${paint.bold(`${wrong} of ${results.length} scenes did not end as they should`)} (${seconds} s).\n`,
    )
  }
}

function describeRun(results: readonly SceneResult[], run: number, durationMs: number): object {
  return { schema_version: 1, ok: results.every((result) => result.ok), run, durationMs, scenes: results }
}

async function serve(system: DemoSystem, ticket: string, terminal: Terminal): Promise<void> {
  const sample = createSamplePush(system, ticket)
  const { paint } = terminal
  terminal.out(
    `\n${paint.bold('Your turn.')} Paste this into another terminal (twice: the second one is a repeat):\n\n`,
  )
  terminal.out(`${sample.curl}\n\nand ask what happened, from this directory:\n\n`)
  terminal.out(`${paint.cyan(`npx counterfoil show ${sample.ticket}`)}\n\nServing. Ctrl-C stops everything.\n`)
  await new Promise<void>((resolve) => {
    if (terminal.interrupted.aborted) resolve()
    terminal.interrupted.addEventListener('abort', () => resolve(), { once: true })
    // A live timer: nothing else may be left that keeps this process going.
    const alive = setInterval(() => {}, 60_000)
    terminal.interrupted.addEventListener('abort', () => clearInterval(alive), { once: true })
  })
  terminal.out('\nStopping …\n')
}
