import { judgeRedrive, type KnownContract } from './judge-redrive.js'
import type { ActJudgement } from './judge-settle.js'
import type { EntryTimeline } from './timeline.js'

export type SendAgainRefusal =
  | 'pending'
  | 'redrivable'
  | 'content_erased'
  | 'destination_removed'
  | 'body_carries_key'
  | 'key_too_long'

export type SendAgainFacts = {
  readonly entry: EntryTimeline
  readonly contract: KnownContract
  /** The frozen bytes; `null` once they were erased. */
  readonly body: Buffer | null
  readonly newKey: string
  readonly now: number
}

const MAX_KEY_BYTES = 255

/** The key of a second action: that of the family's first, and which one it is. */
export function deriveAgainKey(rootKey: string, number: number): string {
  return `${rootKey}:again:${number}`
}

/**
 * May an action be carried out once more, as one of its own? Only what is not under way and can't simply be redriven
 * under its own key; and never with bytes that would say that it is the old one.
 */
export function judgeSendAgain({ entry, contract, body, newKey, now }: SendAgainFacts): ActJudgement<SendAgainRefusal> {
  const look = `Look again: counterfoil show ${entry.id}.`
  if (entry.state === 'pending') {
    const why = 'it is still being worked on, so a second action would come on top of the first'
    return { kind: 'conflict', because: 'pending', why, next: `Wait for its end, or cancel it. ${look}` }
  }
  if (body === null) {
    const next = 'Ask the source to push it anew.'
    return { kind: 'refused', because: 'content_erased', why: 'its content was erased', next }
  }
  if (contract === 'removed') {
    const why = `${entry.destination} is no longer configured, so nobody would send it`
    const next = `Put ${entry.destination} back into the configuration first.`
    return { kind: 'refused', because: 'destination_removed', why, next }
  }
  if (judgeRedrive({ entry, contract, now }).kind === 'safe') {
    const why = 'it can safely go out under its own key, so a second action is not needed'
    return { kind: 'refused', because: 'redrivable', why, next: `counterfoil redrive ${entry.id} --reason "…"` }
  }
  if (carriesKey(body, entry.idempotencyKey)) {
    const why = `its content carries the key ${entry.idempotencyKey}, so ${entry.destination} would take it for the old action`
    const next = 'Content is never rewritten here. Ask the source to push a new event for it.'
    return { kind: 'refused', because: 'body_carries_key', why, next }
  }
  if (Buffer.byteLength(newKey) > MAX_KEY_BYTES) {
    const why = `its new key would be longer than ${MAX_KEY_BYTES} bytes`
    return { kind: 'refused', because: 'key_too_long', why, next: 'Ask the source to push a new event for it.' }
  }
  return { kind: 'allowed' }
}

/** As it is, as JSON writes it, and as a form writes it. */
function carriesKey(body: Buffer, key: string): boolean {
  const inJson = JSON.stringify(key).slice(1, -1)
  const inForm = new URLSearchParams({ '': key }).toString().slice(1)
  return [key, inJson, inJson.replaceAll('/', '\\/'), inForm, encodeURIComponent(key)].some((text) =>
    body.includes(text),
  )
}
