// `npm start`: from a fresh clone to a running system that has just shown what it does.
import { join } from 'node:path'
import { handOver, prepare, ROOT } from './prepare.mjs'

await prepare()
handOver([join(ROOT, 'apps', 'cli', 'dist', 'main.js'), 'demo', '--serve', ...process.argv.slice(2)])
