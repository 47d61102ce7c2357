import type { PresetNote } from '../preset.js'
import type { GoogleOptions } from '../token-schemes.js'

/** Without accounts nothing is believed, and that is a mistake to be told before the first push. */
export function noteServiceAccounts(options: GoogleOptions): readonly PresetNote[] {
  const accounts: readonly unknown[] = options.serviceAccounts ?? []
  if (accounts.length > 0 && accounts.every((email) => typeof email === 'string' && email.includes('@'))) return []
  const message =
    'needs the e-mail of the service account that pushes: any Google account can get a token for our audience'
  return [{ severity: 'error', option: 'preset.serviceAccounts', message }]
}

export function readGoogleOptions(options: GoogleOptions): GoogleOptions {
  return { ...options, serviceAccounts: options.serviceAccounts ?? [] }
}
