// Asks one probe and exits 0 when it says yes. The image has no curl, and needs none.
const url = process.argv[2]
if (url === undefined) {
  process.stderr.write('usage: node deploy/healthcheck.mjs URL\n')
  process.exit(2)
}
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_500) })
  process.exitCode = response.ok ? 0 : 1
} catch {
  process.exitCode = 1
}
