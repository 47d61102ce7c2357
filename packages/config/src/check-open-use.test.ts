import { describe, expect, test } from 'vitest'
import { checkOpenUse } from './check-open-use.js'

const config = { sources: new Map(), destinations: new Map() } as Parameters<typeof checkOpenUse>[0]
const withCrm = { ...config, destinations: new Map([['crm', {}]]) } as unknown as typeof config

describe('checkOpenUse (I12)', () => {
  test('what is configured or has nothing open is no problem', () => {
    expect(checkOpenUse(withCrm, [], ['crm'])).toEqual([])
    expect(checkOpenUse(config, ['sweep'], [])).toEqual([])
  })

  test('a removed source or destination with open work is an error, once each, with a likely new name', () => {
    expect(checkOpenUse(withCrm, ['tickets', 'tickets'], ['crm2'])).toEqual([
      { severity: 'error', path: 'sources.tickets', message: expect.stringContaining('still has open work') },
      { severity: 'error', path: 'destinations.crm2', message: expect.stringContaining('did you mean "crm"?') },
    ])
  })
})
