// Setup file of every vitest worker: when vitest itself is killed, a worker would go on until its test ends, and keep
// the test's servers alive that long.
process.once('disconnect', () => process.exit(1))
