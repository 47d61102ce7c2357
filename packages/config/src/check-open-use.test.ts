import { describe, expect, test } from 'vitest'
import { checkOpenUse } from './check-open-use.js'

const config = { sources: new Map(), destinations: new Map() } as Parameters<typeof checkOpenUse>[0]
const withCrm = { ...config, destinations: new Map([['crm', {}]]) } as unknown as typeof config

describe('checkOpenUse (I12)', () => {
  const entriesOf = (source: string) => [{ kind: 'entries' as const, source }]
  const waiting = (eventType: string | null) => [{ kind: 'deferred' as const, source: 'holds', eventType }]

  test('a route whose deliveries wait for their time is needed, with its transition', () => {
    const holds = (routes: [string, object][], otherwise: object | null = null) =>
      ({
        sources: new Map([['holds', { eventType: null, routes: new Map(routes), otherwise }]]),
        destinations: new Map(),
      }) as unknown as typeof config
    const [problem] = checkOpenUse(holds([]), waiting('hold.expired'), [])
    expect(problem).toMatchObject({
      path: 'sources.holds.routes["hold.expired"]',
      message: expect.stringContaining('wait for their time'),
    })
    expect(checkOpenUse(holds([['hold.expired', { transition: null }]]), waiting('hold.expired'), [])).toHaveLength(1)
    expect(checkOpenUse(holds([['hold.expired', { transition: {} }]]), waiting('hold.expired'), [])).toEqual([])
    expect(checkOpenUse(holds([], { transition: {} }), waiting(null), [])).toEqual([])
    expect(checkOpenUse(holds([]), waiting(null), [])).toMatchObject([{ path: 'sources.holds.otherwise' }])
  })

  test('what is configured or has nothing open is no problem', () => {
    expect(checkOpenUse(withCrm, [], ['crm'])).toEqual([])
    expect(checkOpenUse(config, [{ kind: 'entries', source: 'sweep' }], [])).toEqual([])
  })

  test('a removed source or destination with open work is an error, once each, with a likely new name', () => {
    expect(
      checkOpenUse(withCrm, [{ kind: 'quarantined', source: 'tickets' }, ...entriesOf('tickets')], ['crm2']),
    ).toEqual([
      {
        severity: 'error',
        path: 'sources.tickets',
        message: expect.stringContaining('released or discarded and entries to send and can'),
      },
      { severity: 'error', path: 'destinations.crm2', message: expect.stringContaining('did you mean "crm"?') },
    ])
  })
})
