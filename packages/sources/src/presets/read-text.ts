/** An own text of an object; `null` for whatever else there may be. */
export function readText(document: unknown, name: string): string | null {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, name)) return null
  const value: unknown = document[name as keyof typeof document]
  return typeof value === 'string' ? value : null
}
