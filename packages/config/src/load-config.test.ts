import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from './load-config.js'

const ENV = { TICKETS_SECRET: 'tickets secret of the tests 0001' }

const WHOLE = `
import { defineConfig, hmacTimestamped, route, secret, z } from '@counterfoil/config'
import { z as own } from 'zod'
import { destination } from './names.ts'

const Ticket = z.object({ ticket: z.string(), n: own.number().optional() })

export default defineConfig({
  sources: {
    tickets: {
      path: '/push/tickets',
      verify: hmacTimestamped({ signatureHeader: 'x-signature', timestampHeader: 'x-timestamp' }),
      keys: [{ id: 'k1', secret: secret.env('TICKETS_SECRET') }],
      deliveryId: { pointer: '/id' },
      redeliveryHorizon: '3d',
      ack: { senderTimeout: '10s' },
      routes: {
        'ticket.updated': route({
          schema: Ticket,
          actions: ({ payload }) => [{ destination, idempotencyKey: payload.ticket, body: payload }],
        }),
      },
    },
  },
  destinations: { crm: { url: 'https://crm.example', idempotency: 'none', reviewWindow: '4h' } },
})
`

let dir = ''
beforeEach(() => {
  // Outside of the workspace: no node_modules is near, as in a stranger's folder.
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-config-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function load(text: string) {
  const path = join(dir, 'counterfoil.config.ts')
  writeFileSync(path, text)
  return loadConfig({ path, env: ENV })
}

async function problem(text: string): Promise<string> {
  const result = await load(text)
  expect(result.kind).toBe('invalid')
  expect(result.problems).toHaveLength(1)
  return result.problems[0]?.message ?? ''
}

describe('loadConfig', () => {
  test('loads TypeScript from any folder, with its own imports', async () => {
    writeFileSync(join(dir, 'names.ts'), "export const destination: string = 'crm'\n")
    const result = await load(WHOLE)
    expect(result).toMatchObject({ kind: 'loaded', problems: [] })
    const route =
      result.kind === 'loaded' ? result.config.sources.get('tickets')?.routes.get('ticket.updated') : undefined
    expect(route?.parse?.({ ticket: 'ticket-4821', n: 'x' })).toEqual({
      ok: false,
      message: '/n invalid_type (expected number)',
    })
    const event = {
      source: 'tickets',
      deliveryId: 'd',
      type: 't',
      payload: { ticket: 'ticket-4821' },
      envelope: null,
      exactText: () => null,
    }
    expect(route?.actions(event)).toMatchObject([{ destination: 'crm', idempotencyKey: 'ticket-4821' }])
  })

  test('a second load reads the file again', async () => {
    writeFileSync(join(dir, 'names.ts'), "export const destination: string = 'crm'\n")
    await load(WHOLE)
    const result = await load(WHOLE.replace("path: '/push/tickets'", "path: '/push/changed'"))
    expect(result.kind === 'loaded' && result.config.sources.get('tickets')?.path).toBe('/push/changed')
  })

  test('a missing file is said with its path and the way to name another', async () => {
    const result = await loadConfig({ path: join(dir, 'nope.ts'), env: {} })
    expect(result.problems).toEqual([
      {
        severity: 'error',
        path: '',
        message: expect.stringMatching(/no configuration at .*nope\.ts; .*COUNTERFOIL_CONFIG/),
      },
    ])
  })

  test('a folder in its place is one problem', async () => {
    mkdirSync(join(dir, 'config.ts'))
    expect((await loadConfig({ path: join(dir, 'config.ts'), env: {} })).kind).toBe('invalid')
  })

  test.each([
    [
      'a syntax error',
      'export default {\n  a: 1,\n  b: ]\n}\n',
      /counterfoil\.config\.ts, line 3\): .*; correct the file/,
    ],
    [
      'code that throws',
      'const x: any = null\n\nx.y()\nexport default {}\n',
      /line 3\): Cannot read properties of null/,
    ],
    ['a thrown text', "throw 'no'\n", /: no; correct the file/],
    ['an import that is not there', "import { x } from './nope.js'\nexport default { x }\n", /can't be loaded .*nope/],
    [
      'a name that the package lacks',
      "import { hmacBdy } from '@counterfoil/config'\nexport default hmacBdy()\n",
      /line 2\): hmacBdy is not a function/,
    ],
    ['no default export', 'export const config = {}\n', /exports no default; write: export default defineConfig/],
    ['a default that is no object', 'export default 42\n', /must be an object/],
  ])('%s is one sentence with its place and the next step', async (_name, text, expected) => {
    expect(await problem(text)).toMatch(expected)
  })
})
