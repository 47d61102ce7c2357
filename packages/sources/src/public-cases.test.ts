import { NO_KEY_MATERIAL, type SigningKey } from '@counterfoil/core'
import { expect, test } from 'vitest'
import { slack, zendesk } from './presets.js'

const NOW = 1_767_225_600_000
const KEY: SigningKey = { id: 'k', secret: Buffer.from('test-secret-1') }

function request(headers: Readonly<Record<string, string>>, rawBody: Buffer) {
  const lines = Object.entries(headers).map(([name, value]) => [name, [value]] as const)
  return { method: 'POST', publicUrl: null, query: '', headers: new Map(lines), rawBody }
}

test.each(['', '; charset=utf-8'])(
  'a form of Slack verifies over its own spelling%s, not over another one (case B004: form re-encoded before it is verified)',
  async (parameter) => {
    const text = 'command=%2Fhold&text=a+b%2Ac*~%20d&payload=%7B%22k%22%3A%22%F0%9F%98%80%22%7D'
    const headers = {
      'content-type': `application/x-www-form-urlencoded${parameter}`,
      'x-slack-request-timestamp': '1767225600',
      'x-slack-signature': 'v0=145f652944936d38d48f6c766a28b677aed5dab87e0ccadc6c608e6202ac2138',
    }
    const judge = (body: string) =>
      slack().scheme.verify(request(headers, Buffer.from(body)), [KEY], NOW, NO_KEY_MATERIAL)
    expect(await judge(text)).toMatchObject({ kind: 'verified' })
    expect(await judge(new URLSearchParams(text).toString())).toMatchObject({ cause: 'signature_mismatch' })
  },
)

test('an empty body of Zendesk is signed by its time alone (case B007: empty body that is signed)', async () => {
  const headers = {
    'x-zendesk-webhook-signature-timestamp': '2026-01-01T00:00:00Z',
    'x-zendesk-webhook-signature': 'ZEFBycCCA5RQ7J7+npX2ugmgV6gNFa2CeA+VN3TXxeg=',
  }
  expect(await zendesk().scheme.verify(request(headers, Buffer.alloc(0)), [KEY], NOW, NO_KEY_MATERIAL)).toMatchObject({
    kind: 'verified',
  })
})
