import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

// Workspace packages export their sources under the condition `source`, so that tests need no build.
const conditions = ['source', 'node']

const databaseSetup = ['./packages/testkit/src/global-setup.ts']

function project(
  name: string,
  include: readonly string[],
  options: NonNullable<TestProjectInlineConfiguration['test']> = {},
): TestProjectInlineConfiguration {
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: [...include],
      exclude: ['**/node_modules/**', '**/dist/**'],
      pool: 'forks',
      // Generous: two cores run two of these beside whatever else the machine does.
      testTimeout: 20_000,
      setupFiles: ['./packages/testkit/src/end-with-parent.ts'],
      ...options,
    },
  }
}

const withDatabase = { globalSetup: databaseSetup, testTimeout: 30_000, hookTimeout: 60_000 }

export default defineConfig({
  test: {
    // Vitest's own default leaves one core idle, which on two cores is half of the machine.
    maxWorkers: '100%',
    projects: [
      project('unit', ['{packages,apps,examples,bench}/**/*.test.ts'], {
        exclude: ['**/node_modules/**', '**/dist/**', '**/*.int.test.ts', '**/*.e2e.test.ts'],
      }),
      project('integration', ['{packages,apps,examples,bench}/**/*.int.test.ts'], withDatabase),
      project('properties', ['tests/properties/**/*.test.ts'], { ...withDatabase, testTimeout: 60_000 }),
      project('contracts', ['tests/contracts/**/*.test.ts'], withDatabase),
      project('tidy', ['tests/tidy/**/*.test.ts']),
      // Real processes on two cores: files run one after another, so that one test's load is not another's timeout.
      project('e2e', ['tests/e2e/**/*.e2e.test.ts', 'examples/**/*.e2e.test.ts'], {
        ...withDatabase,
        testTimeout: 120_000,
        fileParallelism: false,
      }),
      project('faults', ['tests/faults/**/*.test.ts'], {
        ...withDatabase,
        testTimeout: 300_000,
        fileParallelism: false,
      }),
    ],
  },
})
