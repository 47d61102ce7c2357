import { signPush } from '../peers/sign-push.js'
import { signingProfiles } from '../system/demo-environment.js'
import type { DemoSystem } from '../system/demo-system.js'

export type SamplePush = { readonly curl: string; readonly ticket: string }

/** A signed push to paste. This scheme signs the bytes alone, so it stays valid as long as the demo's key does. */
export function createSamplePush(system: DemoSystem, ticket: string): SamplePush {
  const profile = signingProfiles(system.secrets, system.receiverPort).tickets
  if (profile === undefined) throw new Error('there is no signing profile for tickets')
  const body = JSON.stringify({
    type: 'ticket.updated',
    eventId: `${ticket}.updated`,
    ticketId: ticket,
    customer: 'you@example.com',
    summary: 'My first push',
  })
  const { headers } = signPush(profile, `dlv-${ticket}`, Buffer.from(body), Date.now())
  const lines = Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}' \\\n`)
  return { curl: `curl -i ${profile.url} \\\n${lines.join('')}  -d '${body}'`, ticket }
}
