import type { AppProcess } from '@counterfoil/testkit'
import { CONFIDENTIAL, SECRETS } from './secrets.js'

const FORBIDDEN: readonly (readonly [string, string])[] = [
  ...Object.entries(SECRETS),
  ['the content of a push', CONFIDENTIAL],
]

/** What the processes printed and must not have (I10): secrets, contents, signatures. */
export function findLeaks(apps: readonly AppProcess[]): readonly string[] {
  return apps.flatMap((app) => {
    const printed = app.stdout() + app.stderr()
    const leaked = FORBIDDEN.filter(([, text]) => printed.includes(text)).map(([name]) => `printed ${name}`)
    // 64 hexadecimal digits are a signature or a key's digest; ids are shorter.
    const signature = /"[^"]*signature[^"]*":"[0-9a-f]{64}"/i.exec(printed)
    return signature === null ? leaked : [...leaked, `printed a signature: ${signature[0].slice(0, 30)}…`]
  })
}
