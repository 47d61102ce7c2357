import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSystem, type Receiver, type Service, type System } from '../system/open-system.js'

const OLD = { push: 'push-secret-old-0123456789abcdef', crm: 'crm-token-old-0123456789' }
const NEW = { push: 'push-secret-new-fedcba9876543210', crm: 'crm-token-new-9876543210' }

const CONFIG = `
import { defineConfig, hmacTimestamped, route, secret } from '@counterfoil/config'
export default defineConfig({
  sources: {
    events: {
      path: '/push/events',
      verify: hmacTimestamped({ signatureHeader: 'X-Signature', timestampHeader: 'X-Timestamp' }),
      keys: [{ id: 'k1', secret: secret.file('push.secret') }],
      deliveryId: { header: 'X-Delivery-ID' },
      redeliveryHorizon: '3d',
      ack: { senderTimeout: '10s', deadline: '2s' },
      routes: {},
      otherwise: route({ actions: (e) => [{ destination: 'crm', idempotencyKey: e.deliveryId, body: {} }] }),
    },
  },
  destinations: {
    crm: {
      url: process.env.SINK_URL + '/crm',
      allowPrivate: true,
      headers: { authorization: secret.file('crm.token', { prefix: 'Bearer ' }) },
      idempotency: { header: 'Idempotency-Key', lifetime: '24h' },
      reviewWindow: '4h',
    },
  },
})
`

describe('SIGHUP', () => {
  let system: System
  let directory: string
  let receiver: Receiver
  let worker: Service

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'counterfoil-secrets-'))
    await writeFile(join(directory, 'counterfoil.config.ts'), CONFIG)
    await write(OLD)
    system = await openSystem({
      sink: { keepHeaders: ['authorization'] },
      env: { COUNTERFOIL_CONFIG: join(directory, 'counterfoil.config.ts') },
    })
    receiver = await system.startReceiver()
    worker = await system.startWorker()
  })
  afterAll(async () => {
    await system.close()
    await rm(directory, { recursive: true })
  })

  const write = async (secrets: { push: string; crm: string }) => {
    await writeFile(join(directory, 'push.secret'), `${secrets.push}\n`)
    await writeFile(join(directory, 'crm.token'), `${secrets.crm}\n`)
  }
  const hangUp = async (app: Service, kept: number) => {
    const seen = app.lines.filter(({ msg }) => msg === 'secrets.reloaded').length
    app.signal('SIGHUP')
    await app.waitForLog(
      (line) =>
        line.msg === 'secrets.reloaded' &&
        line.kept === kept &&
        app.lines.filter(({ msg }) => msg === 'secrets.reloaded').length > seen,
    )
  }
  const push = async (id: string, secret: string) => {
    const answer = await receiver.pusher.push({ id, secret })
    return answer.kind === 'answered' ? answer.status : answer.code
  }

  it('makes receiver and worker read their secret files again, and a file that can not be used changes nothing', async () => {
    expect([await push('d-1', OLD.push), await push('d-2', NEW.push)]).toEqual([204, 401])
    await system.drained()

    await write({ push: '', crm: '' })
    await hangUp(receiver, 2)
    await hangUp(worker, 2)
    expect(await push('d-3', OLD.push)).toBe(204)
    await system.drained()

    await write(NEW)
    await hangUp(receiver, 0)
    await hangUp(worker, 0)
    expect([await push('d-4', OLD.push), await push('d-5', NEW.push)]).toEqual([401, 204])
    await system.drained()

    const sent = (await system.sink.requests()).map(({ headers }) => headers.authorization)
    expect(sent).toEqual([`Bearer ${OLD.crm}`, `Bearer ${OLD.crm}`, `Bearer ${NEW.crm}`])

    const printed = [receiver, worker].map((app) => app.stdout() + app.stderr()).join('')
    for (const secret of [...Object.values(OLD), ...Object.values(NEW)]) expect(printed).not.toContain(secret)
  })
})
