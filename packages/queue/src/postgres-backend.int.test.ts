import { freshDatabase } from '@counterfoil/testkit'
import { expect, test } from 'vitest'
import { createPostgres } from './postgres-backend.js'

test('a connection that was cut lets the process turn before it refuses, so that a worker asking again starves nobody', async () => {
  const fresh = await freshDatabase()
  try {
    const { queue, cut } = await createPostgres(fresh.url).connect()
    cut()
    let turned = false
    setImmediate(() => {
      turned = true
    })
    await expect(queue.getJobScheduler('none')).rejects.toThrow()
    expect(turned).toBe(true)
  } finally {
    await fresh.drop()
  }
})
