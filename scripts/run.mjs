// `node scripts/run.mjs <command> …`: gets the clone ready, then runs one command of `counterfoil` (or the bench).
import { join } from 'node:path'
import { handOver, prepare, ROOT } from './prepare.mjs'

const [command = '', ...rest] = process.argv.slice(2)

if (command === 'bench') {
  await prepare(['apps/cli', 'bench'])
  handOver([join(ROOT, 'bench', 'dist', 'main.js'), ...rest])
} else {
  await prepare()
  handOver([join(ROOT, 'apps', 'cli', 'dist', 'main.js'), command, ...rest])
}
