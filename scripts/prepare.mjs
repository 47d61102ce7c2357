// Gets a fresh clone ready: the right Node, the locked dependencies, the build. Plain Node, since nothing is installed yet.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const STAMP = join(ROOT, 'node_modules', '.counterfoil-lock')
const NODE_NEEDED = [20, 19]

/**
 * Checks Node, installs what the lockfile says when it changed since the last time, and builds what changed of
 * `projects` and what they need: nobody who starts the program waits for its tests to compile.
 * Says one sentence on stderr for each step that takes a while. Ends the process with 1 and a reason when one fails.
 */
export async function prepare(projects = ['apps/cli']) {
  const say = (sentence) => process.stderr.write(`${sentence}\n`)
  requireNode()
  await installWhenNeeded(say)
  await build(projects, say)
}

export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1])) return
  fail(`Counterfoil needs Node ${NODE_NEEDED.join('.')} or newer, and this is ${process.versions.node}.`)
}

/** Installs what the lockfile says unless that was done already. */
export async function installWhenNeeded(say) {
  const wanted = describeInstallation()
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  const pnpm = readJson('package.json').packageManager
  say(`Installing the locked dependencies with ${pnpm} …`)
  // CI=true: pnpm never stops to ask a question.
  const env = { ...process.env, CI: 'true' }
  const args = ['--yes', pnpm, 'install', '--frozen-lockfile']
  const result = await run('npx', args, { env, shell: process.platform === 'win32' })
  if (result.code !== 0) fail('The dependencies could not be installed: see above.', result.output)
  writeFileSync(STAMP, wanted)
}

/** Changes whenever an installation may have to: lockfile, build rules, pnpm, platform, Node's binary interface. */
function describeInstallation() {
  const hash = createHash('sha256')
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) hash.update(readFileSync(join(ROOT, file)))
  hash.update(readJson('package.json').packageManager)
  return `${hash.digest('hex')} ${process.platform}-${process.arch}-${process.versions.modules}`
}

async function build(projects, say) {
  const slow = setTimeout(() => say('Building …'), 700)
  const result = await run(process.execPath, [
    join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-b',
    ...projects,
  ])
  clearTimeout(slow)
  if (result.code !== 0) fail('The build failed: see above.', result.output)
}

/** Runs a program in the project's root, keeps what it says, and shows it only when it is asked for. */
function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], ...options })
    let output = ''
    const keep = (chunk) => {
      output = (output + chunk).slice(-20000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', (error) => resolve({ code: 1, output: error.message }))
    child.once('close', (code) => resolve({ code: code === null ? 1 : code, output }))
  })
}

/** Replaces this script by a program: same terminal, same signals, and its exit code is ours. */
export function handOver(args, env = process.env) {
  // The terminal sends Ctrl-C to both; the child decides when we end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => forward(signal))
  const child = spawn(process.execPath, args, { stdio: 'inherit', env })
  const forward = (signal) => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  child.once('error', (error) => fail(error.message))
  child.once('close', (code, signal) => process.exit(code === null ? (signal === 'SIGINT' ? 130 : 1) : code))
}

function readJson(file) {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
}

function fail(sentence, output = '') {
  if (output) process.stderr.write(`${output.trim()}\n`)
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
