import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasRedisServer, type RedisServer, startRedis } from './start-redis.js'

describe.runIf(hasRedisServer())('startRedis', () => {
  let server: RedisServer
  let client: Redis

  beforeAll(async () => {
    server = await startRedis()
    client = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
    client.on('error', () => {})
  })
  afterAll(async () => {
    client.disconnect()
    await server.close()
  })

  it('forgets everything when flushed', async () => {
    await client.set('a', '1')
    await server.flush()
    expect(await client.get('a')).toBeNull()
  })

  it('comes back empty on the same port after a kill and after a restart', async () => {
    await client.set('a', '1')
    await server.kill9()
    expect(server.pid()).toBeNull()
    await server.start()
    expect(await client.get('a')).toBeNull()
    await client.set('a', '2')
    await server.restart()
    expect(await client.get('a')).toBeNull()
  })

  it('answers only after it was resumed', async () => {
    server.pause()
    let answered = false
    const ping = client.ping().then(() => {
      answered = true
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(answered).toBe(false)
    server.resume()
    await ping
  })
})
