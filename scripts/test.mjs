// `npm test`: everything that is checked on every change, from a fresh clone, as one command.
//
//   npm test                      all tiers
//   npm test -- unit integration  some of them
//   npm test -- packages/db       the tests of some files, whatever their tier
//   npm run test:faults           the long fault suite
//
// The last line is always `N passed, N failed, N skipped`.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installWhenNeeded, ROOT, requireNode } from './prepare.mjs'
import { formatSeconds, readReport } from './test-report.mjs'

/** One vitest run each. What needs the built program comes last, and not at all when it does not build. */
const TIERS = [
  { name: 'unit', projects: ['unit', 'tidy'] },
  { name: 'integration', projects: ['integration', 'contracts', 'properties'] },
  { name: 'e2e', projects: ['e2e'], needsBuild: true },
  { name: 'faults', projects: ['faults'], needsBuild: true, onlyWhenAsked: true },
]

/** Programs that some tests need and that no package registry for Node can give. */
const PROGRAMS = [
  {
    name: 'redis-server',
    what: 'the tests with a real Redis',
    get: '`apt-get install redis-server` or `brew install redis`',
  },
]

const isCi = process.env.CI === 'true' || process.env.CI === '1'
const reports = mkdtempSync(join(tmpdir(), 'counterfoil-test-'))
let running = []
process.on('exit', () => rmSync(reports, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    process.exitCode = 130
    // In a terminal Ctrl-C has reached the children already, and a second one would stop them from tidying up.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) for (const child of running) child.kill(signal)
  })
}

const wanted = process.argv.slice(2)
const names = new Set(TIERS.map((tier) => tier.name))
const filters = wanted.filter((word) => !names.has(word))
const asked = new Set(wanted.filter((word) => names.has(word)))
const isWhole = wanted.length === 0

process.chdir(ROOT)
requireNode()
await installWhenNeeded((sentence) => process.stdout.write(`${sentence}\n`))
const checks = await checkSources()
const hasBuilt = checks.every((step) => step.name !== 'types' || step.code === 0)
finish([...checks, ...(await runTiers())])

/** Lint and types beside each other: one is bound by its own threads, the other by few. */
async function checkSources() {
  const biome = join('node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const jobs = [runStep('types', [join('node_modules', 'typescript', 'bin', 'tsc'), '-b'])]
  if (isWhole) jobs.unshift(runStep('lint', [biome, 'check', '--error-on-warnings', '.']))
  return (await Promise.all(jobs)).map((step) => ({ ...step, failed: step.code === 0 ? 0 : 1 }))
}

async function runTiers() {
  if (filters.length > 0 && asked.size === 0) return [await runVitest('chosen', filters)]
  const done = []
  for (const tier of TIERS) {
    if (asked.size > 0 ? !asked.has(tier.name) : tier.onlyWhenAsked) continue
    if (process.exitCode === 130) break
    if (tier.needsBuild && !hasBuilt)
      done.push({ name: tier.name, ms: 0, failed: 1, note: 'not run: the build failed' })
    else
      done.push(await runVitest(tier.name, [...tier.projects.flatMap((project) => ['--project', project]), ...filters]))
  }
  return done
}

async function runVitest(name, args) {
  const report = join(reports, `${name}.json`)
  const vitest = join('node_modules', 'vitest', 'vitest.mjs')
  const output = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const step = await runStep(name, [vitest, 'run', ...args, ...output])
  return { ...step, ...readReport(report, step.code) }
}

async function runStep(name, args) {
  const startedAt = performance.now()
  process.stdout.write(`\n▸ ${name}\n`)
  const code = await new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    running.push(child)
    child.once('error', () => resolve(1))
    child.once('close', (status) => {
      running = running.filter((other) => other !== child)
      resolve(status ?? 1)
    })
  })
  return { name, code, ms: performance.now() - startedAt }
}

function finish(steps) {
  const sum = (field) => steps.reduce((total, step) => total + (step[field] ?? 0), 0)
  const missing = PROGRAMS.filter(({ name }) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0)
  const skipped = sum('skipped')
  // In CI a check that did not run is a check that failed: there every program can be had.
  const refused = isCi ? missing.length + (missing.length === 0 ? skipped : 0) : 0
  const failed = sum('failed') + refused
  process.stdout.write('\n')
  for (const step of steps) process.stdout.write(`${describeStep(step)}\n`)
  process.stdout.write(`${'all'.padEnd(12)} ${formatSeconds(performance.now()).padStart(8)}\n`)
  for (const title of steps.flatMap((step) => step.skippedTitles ?? [])) process.stdout.write(`skipped  ${title}\n`)
  for (const { name, what, get } of missing) {
    process.stdout.write(`Left out: ${what}, because \`${name}\` is not on this machine. Get it with ${get}.\n`)
  }
  if (refused > 0) process.stdout.write('With CI=true, what was left out or skipped counts as failed.\n')
  process.stdout.write(`${sum('passed')} passed, ${failed} failed, ${skipped} skipped\n`)
  process.exitCode ||= failed === 0 ? 0 : 1
}

function describeStep(step) {
  const head = `${step.name.padEnd(12)} ${formatSeconds(step.ms).padStart(8)}`
  if (step.note !== undefined) return `${head}  ${step.note}`
  if (step.passed === undefined) return `${head}  ${step.failed === 0 ? 'ok' : 'failed'}`
  return `${head}  ${step.passed} passed, ${step.failed} failed, ${step.skipped} skipped`
}
