import { describe, expect, test } from 'vitest'
import { createNamedPreset, PRESET_NAMES } from './preset-catalogue.js'
import * as presets from './presets.js'

const make = (name: string, options: Readonly<Record<string, string>> = {}) =>
  createNamedPreset(name, new Map(Object.entries(options)))

describe('presets by name', () => {
  test('are all that a configuration can name', () => {
    const callable = Object.entries(presets).filter(([name]) => !/^(create|note)/.test(name))
    expect([...PRESET_NAMES].sort()).toEqual(callable.map(([name]) => name).sort())
  })

  test('are found in any spelling of their words', () => {
    for (const name of ['cloudTasks', 'cloud-tasks', 'CLOUD_TASKS']) {
      const options = { serviceAccounts: 'push@p.iam.gserviceaccount.com, other@p.iam.gserviceaccount.com' }
      expect(make(name, options)).toMatchObject({ kind: 'preset', preset: { name: 'cloudTasks' } })
    }
    expect(make('gitlab')).toEqual({ kind: 'unknown' })
  })

  test('take their options as text', () => {
    expect(make('hubspot', { signature: 'v2' })).toMatchObject({ preset: { scheme: { binds: { time: false } } } })
    expect(make('slack', { toleranceMs: '1000' })).toMatchObject({ preset: { scheme: { toleranceMs: 1000 } } })
    expect(make('sns', { topicArns: 'arn:aws:sns:eu-west-1:123456789012:orders', allowSha1: 'true' })).toMatchObject({
      preset: { notes: [{ severity: 'warning' }] },
    })
    for (const authorization of ['basic', 'X-Key']) {
      expect(make('eventBridge', { authorization })).toMatchObject({ kind: 'preset' })
    }
    const auth = '{"kind":"entra","tenant":"contoso","audience":["a"],"applications":["b"]}'
    expect(make('eventGrid', { auth })).toMatchObject({ preset: { scheme: { family: 'jwt' } } })
  })

  test.each([
    ['github', { x: '1' }, 'it has none'],
    ['slack', { tolerance: '1' }, 'it has toleranceMs'],
    ['slack', { toleranceMs: '5m' }, 'number of milliseconds'],
    ['sns', { allowSha1: 'yes' }, 'true or false'],
    ['hubspot', { signature: 'v4' }, 'one of v3, v2, v1'],
    ['eventGrid', { auth: '{' }, 'object in JSON'],
    ['eventGrid', { auth: '{"kind":"header"}' }, 'needs header'],
    ['eventGrid', { auth: '{"kind":"google","serviceAccounts":"a@b"}' }, 'list of texts'],
    ['eventGrid', { auth: '{"kind":"entra","tenant":"a b"}' }, 'tenant'],
    ['eventGrid', { auth: '{"kind":"none"}' }, 'kind'],
    ['pubsub', {}, 'service account'],
  ])('%s refuses %j and says why', (name, options, why) => {
    expect(make(name, options)).toMatchObject({ kind: 'unusable', why: expect.stringContaining(why) })
  })
})
