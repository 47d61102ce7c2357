import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { loadConfig, readSettings } from '@counterfoil/config'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'

// No container runs here: the files are held to what the programs really read, serve and are called.

const ROOT = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

type Service = {
  readonly image: string
  readonly build?: string
  readonly command?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly restart?: string
  readonly user?: string
  readonly stop_grace_period?: string
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const services = new Map(Object.entries(compose.services))
const ours = [...services].filter(([, service]) => service.build !== undefined)
const serviceOf = (name: string): Service => {
  const service = services.get(name)
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`)
  return service
}
const environmentOf = (name: string) => serviceOf(name).environment ?? {}

const dockerfile = read('Dockerfile')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const lastStage = dockerfile.slice(dockerfile.findLastIndex((line) => line.startsWith('FROM ')))

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('docker-compose.yml', () => {
  it('has the whole delivery path and its peers', () => {
    const wanted = ['postgres', 'redis', 'migrate', 'receiver', 'worker', 'crm', 'mailer', 'carrier', 'queue']
    expect([...services.keys()]).toEqual(expect.arrayContaining(wanted))
  })

  it.each(['migrate', 'receiver', 'worker'])('names only real settings, with values that %s accepts', (name) => {
    const role = name === 'migrate' ? 'cli' : name === 'worker' ? 'worker' : 'receiver'
    expect(readSettings(environmentOf(name), role)).toMatchObject({ kind: 'read', problems: [] })
  })

  it.each(['receiver', 'worker'])(
    'gives %s all that its configuration needs, and destinations that exist',
    async (name) => {
      const env = environmentOf(name)
      for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value)
      const loaded = await loadConfig({ path: join(ROOT, env.COUNTERFOIL_CONFIG ?? ''), env })
      if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems))
      for (const destination of loaded.config.destinations.values()) {
        const { hostname, port } = new URL(destination.url)
        expect(environmentOf(hostname).PEER_PORT, destination.url).toBe(port)
      }
    },
  )

  it('points the demo queue at a configured source, with its secret', async () => {
    const env = environmentOf('receiver')
    for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value)
    const loaded = await loadConfig({ path: join(ROOT, env.COUNTERFOIL_CONFIG ?? ''), env })
    if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems))
    const profiles = JSON.parse(environmentOf('queue').PEER_PROFILES ?? '{}')
    for (const [name, profile] of Object.entries<{ url: string; secret: string }>(profiles)) {
      const source = loaded.config.sources.get(name)
      const url = new URL(profile.url)
      expect(url.hostname).toBe('receiver')
      expect(url.port).toBe(env.COUNTERFOIL_PORT)
      expect(url.pathname).toBe(source?.path)
      expect(source?.keys().map(({ secret }) => secret.toString())).toContain(profile.secret)
    }
  })

  it('starts commands and files that exist', () => {
    for (const [name, { command, entrypoint }] of ours) {
      if (entrypoint !== undefined) {
        const [program, file = ''] = entrypoint
        expect(program).toBe('node')
        expect(existsSync(join(ROOT, sourceOf(file))), `${name}: ${file}`).toBe(true)
        continue
      }
      const [word = '', ...rest] = command ?? []
      const source = read(`apps/cli/src/commands/${word}.ts`)
      for (const part of [word, ...rest]) expect(source, `${name}: ${part}`).toContain(`.command('${part}')`)
    }
    for (const word of serviceOf('demo-schema').command ?? []) {
      const file = /^--file=\/(examples\/.*)$/.exec(word)?.[1]
      if (file !== undefined) expect(existsSync(join(ROOT, file)), file).toBe(true)
    }
  })

  it('waits for what is health-checked to be healthy and for one-shots to be done, without a circle', () => {
    for (const [name, { depends_on: needs = {} }] of services) {
      for (const [other, { condition }] of Object.entries(needs)) {
        const isChecked = serviceOf(other).healthcheck !== undefined
        const wanted = isChecked ? 'service_healthy' : 'service_completed_successfully'
        expect(condition, `${name} needs ${other}`).toBe(wanted)
        expect(reaches(other, name), `${name} and ${other} wait for each other`).toBe(false)
      }
    }
    // Nobody claims or sends on a schema that is not there.
    for (const name of ['receiver', 'worker']) {
      expect(reaches(name, 'migrate')).toBe(true)
      expect(reaches(name, 'postgres')).toBe(true)
    }
    expect(serviceOf('migrate').restart).toBe('no')
  })

  it('probes every server where it listens, with what its image has', () => {
    for (const [name, { healthcheck, environment = {} }] of ours) {
      if (healthcheck === undefined) {
        expect(name).toBe('migrate')
        continue
      }
      const [kind, program, script, url = ''] = healthcheck.test
      expect([kind, program]).toEqual(['CMD', 'node'])
      expect(existsSync(join(ROOT, script ?? ''))).toBe(true)
      const port = environment.COUNTERFOIL_HEALTH_PORT ?? environment.PEER_PORT
      expect(new URL(url).port, name).toBe(port)
      expect(new URL(url).pathname, name).toBe(environment.PEER_PORT === undefined ? '/readyz' : '/_peer/health')
    }
    expect(serviceOf('postgres').healthcheck?.test).toEqual(expect.arrayContaining(['pg_isready', '-h', '127.0.0.1']))
    expect(serviceOf('redis').healthcheck?.test).toContain('ping')
  })

  it('has the ports and credentials of one side equal to those of the other', () => {
    for (const name of ['migrate', 'receiver', 'worker']) {
      const database = new URL(environmentOf(name).COUNTERFOIL_DATABASE_URL ?? '')
      const postgres = environmentOf(database.hostname)
      expect([database.username, database.password, database.pathname.slice(1), database.port]).toEqual([
        postgres.POSTGRES_USER,
        postgres.POSTGRES_PASSWORD,
        postgres.POSTGRES_DB,
        '5432',
      ])
      expect(serviceOf(new URL(environmentOf(name).COUNTERFOIL_REDIS_URL ?? '').hostname).image).toMatch(/^redis:/)
    }
    for (const [name, inside] of [
      ['receiver', environmentOf('receiver').COUNTERFOIL_PORT],
      ['queue', environmentOf('queue').PEER_PORT],
    ] as const) {
      const published = serviceOf(name).ports ?? []
      expect(published.map((port) => port.split(':').at(-1))).toEqual([inside])
      // Only this machine: the demo's keys are known to everybody.
      for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:/)
    }
    // Probes stay private.
    expect(serviceOf('worker').ports).toBeUndefined()
  })

  it('gives a stop longer than the program takes, and the spool a disk that outlives it', () => {
    for (const name of ['receiver', 'worker'] as const) {
      const settings = readSettings(environmentOf(name), name)
      if (settings.kind !== 'read') throw new Error('see above')
      const graceS = Number(/^(\d+)s$/.exec(serviceOf(name).stop_grace_period ?? '')?.[1])
      const { graceMs, spoolDir } = settings.settings
      expect(graceS * 1000).toBeGreaterThan(graceMs)
      if (name === 'receiver') expect(serviceOf(name).volumes?.map((v) => v.split(':')[1])).toContain(spoolDir)
    }
    for (const [, { volumes: used = [] }] of services) {
      for (const volume of used) {
        const name = volume.split(':')[0] ?? ''
        if (!name.startsWith('.')) expect(compose.volumes).toHaveProperty(name)
      }
    }
  })
})

describe('the image', () => {
  it('is built in stages, runs as a numbered user that is not root, and starts the program', () => {
    expect(dockerfile.filter((line) => line.startsWith('FROM ')).length).toBeGreaterThan(1)
    const user = lastStage.filter((line) => line.startsWith('USER ')).at(-1)
    expect(user).toMatch(/^USER [1-9]\d*$/)
    for (const [name, service] of ours) expect(service.user, name).toBeUndefined()
    const entry = lastStage.find((line) => line.startsWith('ENTRYPOINT ')) ?? ''
    const words = JSON.parse(entry.slice('ENTRYPOINT '.length)) as string[]
    expect(words[0]).toBe('node')
    expect(existsSync(join(ROOT, sourceOf(words.at(-1) ?? '')))).toBe(true)
  })

  it('has a Node that the program runs on, and the package manager that made the lockfile', () => {
    const { engines, packageManager } = JSON.parse(read('package.json'))
    const [, least = ''] = /^>=(\d+)/.exec(engines.node) ?? []
    for (const line of dockerfile.filter((text) => text.startsWith('FROM '))) {
      expect(Number(/node:(\d+)/.exec(line)?.[1]), line).toBeGreaterThanOrEqual(Number(least))
    }
    expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+$/)
    expect(dockerfile.join('\n')).toContain('--frozen-lockfile')
  })

  it('builds nothing that its context leaves out', () => {
    const ignored = read('.dockerignore').split('\n').filter(Boolean)
    const built = /tsc -b(?<projects>[^&]*)/.exec(dockerfile.join('\n'))?.groups?.projects?.trim().split(/\s+/) ?? []
    const projects = built.filter(Boolean)
    const seen = new Set<string>()
    const visit = (project: string) => {
      if (seen.has(project)) return
      seen.add(project)
      const file = project.endsWith('.json') ? project : join(project, 'tsconfig.json')
      for (const { path } of JSON.parse(read(file)).references ?? []) visit(join(file, '..', path))
    }
    for (const project of projects.length === 0 ? ['.'] : projects) visit(project)
    expect(
      [...seen].filter((project) => ignored.some((name) => project === name || project.startsWith(`${name}/`))),
    ).toEqual([])
  })

  it('asks a probe and says by its exit code whether all is well', async () => {
    const status = { code: 200 }
    const server = createServer((_request, response) => response.writeHead(status.code).end())
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`
    expect(await probe(url)).toBe(0)
    status.code = 503
    expect(await probe(url)).toBe(1)
    await new Promise((closed) => server.close(closed))
    expect(await probe(url)).toBe(1)
  })
})

/** A compiled file of the image, as the source that it is made of. */
function sourceOf(file: string): string {
  return file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')
}

function reaches(from: string, to: string): boolean {
  const needs = Object.keys(serviceOf(from).depends_on ?? {})
  return needs.includes(to) || needs.some((next) => reaches(next, to))
}

function probe(url: string): Promise<number> {
  return new Promise((done) => {
    execFile(process.execPath, [join(ROOT, 'deploy/healthcheck.mjs'), url], (error) => done(Number(error?.code ?? 0)))
  })
}
