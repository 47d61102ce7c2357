import { describe, expect, it } from 'vitest'
import { toSnakeCase } from './to-snake-case.js'

describe('toSnakeCase', () => {
  it('names in snake_case, instants in ISO 8601, and leaves what people wrote alone', () => {
    const at = Date.UTC(2026, 10, 29)
    const iso = '2026-11-29T00:00:00.000Z'
    expect(
      toSnakeCase({
        readAt: at,
        at,
        deferredUntil: at,
        uncertainSince: null,
        retryAfterMs: 5,
        entries: [{ idempotencyKey: 'aB', closedAt: at }],
        detail: { camelCase: 'kept', pausedAt: at },
      }),
    ).toEqual({
      read_at: iso,
      at: iso,
      deferred_until: iso,
      uncertain_since: null,
      retry_after_ms: 5,
      entries: [{ idempotency_key: 'aB', closed_at: iso }],
      detail: { camelCase: 'kept', pausedAt: at },
    })
  })

  it('keeps a name like __proto__ a name', () => {
    const made = toSnakeCase(JSON.parse('{"__proto__":{"polluted":1}}'))
    expect(Object.hasOwn(made as object, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})
