const PLAIN = /^[A-Za-z_$][\w$-]*$/

/** `sources.tickets.keys[0]`, `routes["ticket.updated"]`: as a person would write the way to a value. */
export function formatPath(base: string, path: readonly PropertyKey[]): string {
  let text = base
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (PLAIN.test(String(step))) text += text === '' ? String(step) : `.${String(step)}`
    else text += `[${JSON.stringify(String(step))}]`
  }
  return text
}
