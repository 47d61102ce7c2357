import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { SigningProfile } from '../peers/sign-push.js'
import { DEMO_CONFIG, type DemoFiles } from './demo-files.js'

export type DemoPorts = {
  readonly receiver: number
  readonly crm: number
  readonly mailer: number
  readonly carrier: number
}

/** Names of everything secret in the demo. Made once for a directory, so that a second start keeps them. */
const SECRETS = [
  'TICKETS_PUSH_SECRET',
  'SCREENINGS_PUSH_SECRET',
  'WAREHOUSE_PUSH_SECRET',
  'YARD_PUSH_SECRET',
  'CRM_TOKEN',
  'DEMO_OPERATOR_TOKEN',
] as const

export type DemoSecrets = Readonly<Record<(typeof SECRETS)[number], string>>

export function readOrMakeSecrets(files: DemoFiles): DemoSecrets {
  const kept = existsSync(files.environment) ? parseEnv(readFileSync(files.environment, 'utf8')) : {}
  const entries = SECRETS.map((name) => [name, kept[name] ?? `demo-${randomBytes(24).toString('base64url')}`])
  return Object.fromEntries(entries) as DemoSecrets
}

/** What the configuration of the demo reads, for receiver, worker and every command. */
export function demoVariables(secrets: DemoSecrets, ports: DemoPorts): Record<string, string> {
  return {
    ...secrets,
    CRM_URL: `http://127.0.0.1:${ports.crm}/notifications`,
    MAILER_URL: `http://127.0.0.1:${ports.mailer}/mails`,
    CARRIER_URL: `http://127.0.0.1:${ports.carrier}/pickups`,
    COUNTERFOIL_CONFIG: DEMO_CONFIG,
  }
}

/** Lets `counterfoil show …` in another terminal find this system. Holds credentials: for its owner's eyes only. */
export function writeEnvironment(files: DemoFiles, variables: Readonly<Record<string, string>>): void {
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'`)
  writeFileSync(files.environment, `# Written by counterfoil at every start of the demo.\n${lines.join('\n')}\n`, {
    mode: 0o600,
  })
  chmodSync(files.environment, 0o600)
}

/** How the demo queue signs for each source. */
export function signingProfiles(secrets: DemoSecrets, receiverPort: number): Record<string, SigningProfile> {
  const url = (path: string) => `http://127.0.0.1:${receiverPort}${path}`
  return {
    tickets: {
      url: url('/push/tickets'),
      secret: secrets.TICKETS_PUSH_SECRET,
      scheme: 'body',
      signatureHeader: 'X-Webhook-Signature',
      timestampHeader: null,
      idHeader: 'X-Delivery-ID',
    },
    screenings: {
      url: url('/push/screenings'),
      secret: secrets.SCREENINGS_PUSH_SECRET,
      scheme: 'timestamped',
      signatureHeader: 'X-Delivery-Signature',
      timestampHeader: 'X-Delivery-Timestamp',
      idHeader: 'X-Delivery-ID',
    },
    warehouse: bodyOnly(url('/push/warehouse'), secrets.WAREHOUSE_PUSH_SECRET),
    yard: bodyOnly(url('/push/yard'), secrets.YARD_PUSH_SECRET),
  }
}

function bodyOnly(url: string, secret: string): SigningProfile {
  return {
    url,
    secret,
    scheme: 'body',
    signatureHeader: 'X-Queue-Signature',
    timestampHeader: null,
    idHeader: null,
  }
}
