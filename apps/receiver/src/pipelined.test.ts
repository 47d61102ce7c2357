import { connect } from 'node:net'
import { until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PushHarness, signedHeaders, startPushHarness } from './testing/push-harness.js'

let harness: PushHarness
beforeEach(async () => {
  harness = await startPushHarness()
})
afterEach(() => harness.close())

function push(id: string): string {
  const body = '{"a":1}'
  return `POST /hooks/tickets HTTP/1.1\r\n${signedHeaders(body, { id })}Content-Length: ${body.length}\r\n\r\n${body}`
}

describe('pushes that are pipelined on one connection', () => {
  it('give their seats back when the client leaves before the first is answered', async () => {
    let finish: () => void = () => {}
    harness.store.script(
      (planned) =>
        new Promise((resolve) => {
          finish = () =>
            resolve({
              kind: 'committed',
              results: planned.deliveries.map(({ id }) => ({
                kind: 'first',
                deliveryUuid: id,
                observation: 1,
                outcome: null,
              })),
            })
        }),
    )
    const gone = new Promise((resolve) => {
      harness.pushServer.server.once('connection', (accepted) => accepted.once('close', resolve))
    })
    const socket = connect(harness.port, '127.0.0.1', () => socket.write(push('p-1') + push('p-2') + push('p-3')))
    socket.on('error', () => {})
    await until(() => harness.store.claims.length === 3)
    socket.resetAndDestroy()
    await gone
    finish()
    await until(() => harness.budget.depth().pushes === 0)
    expect(harness.store.claims).toHaveLength(3)
    await until(() => harness.lines().filter(({ msg }) => msg === 'push.received').length === 3)
    expect(harness.lines().map(({ ack }) => ack)).toEqual(['not_written', 'not_written', 'not_written'])
  })
})
