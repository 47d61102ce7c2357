// Reads what vitest's JSON reporter wrote and adds it up.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/**
 * Counts of one vitest run. A file that failed before its first test counts as one failure, and so does a run that
 * left no report, found no test at all, or ended badly for a reason outside of tests (an unhandled error).
 */
export function readReport(file, exitCode) {
  const counts = { passed: 0, failed: 0, skipped: 0, skippedTitles: [] }
  if (!existsSync(file)) return { ...counts, failed: 1 }
  const report = JSON.parse(readFileSync(file, 'utf8'))
  for (const result of report.testResults) addFile(counts, result)
  if (exitCode !== 0 && counts.failed === 0) counts.failed = 1
  if (counts.passed + counts.failed + counts.skipped === 0) counts.failed = 1
  return counts
}

function addFile(counts, result) {
  let failedHere = 0
  for (const test of result.assertionResults) {
    if (test.status === 'passed') counts.passed += 1
    else if (test.status === 'failed') failedHere += 1
    else {
      counts.skipped += 1
      counts.skippedTitles.push(`${relative(process.cwd(), result.name)}: ${test.fullName}`)
    }
  }
  if (result.status === 'failed' && failedHere === 0) failedHere = 1
  counts.failed += failedHere
}

export const formatSeconds = (ms) => `${(ms / 1000).toFixed(1)} s`
