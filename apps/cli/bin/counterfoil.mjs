#!/usr/bin/env node
// The command as it is typed. In a directory where `npm start` has run, it finds that system's database and keys by
// itself; whatever the environment already says goes first.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

// Only the directory itself is looked at: a parent may be somebody else's.
const file = join(process.cwd(), '.counterfoil', 'environment')
if (process.env.COUNTERFOIL_DATABASE_URL === undefined && existsSync(file)) process.loadEnvFile(file)
await import('../dist/main.js')
