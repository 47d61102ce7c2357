// `node scripts/run.mjs <command> …`: gets the clone ready, then runs one command of `counterfoil` (or the bench).
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { handOver, prepare, ROOT } from './prepare.mjs'

const [command, ...rest] = process.argv.slice(2)
const PROGRAMS = new Map([['bench', join(ROOT, 'bench', 'dist', 'main.js')]])

await prepare()
const program = PROGRAMS.get(command ?? '')
if (program !== undefined && existsSync(program)) handOver([program, ...rest])
else
  handOver([join(ROOT, 'apps', 'cli', 'bin', 'counterfoil.mjs'), ...(command === undefined ? [] : [command, ...rest])])
