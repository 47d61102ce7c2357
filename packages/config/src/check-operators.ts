import { type ConfigProblem, error } from './problem.js'
import type { SecretCell } from './secret-store.js'

type NamedCell = { readonly name: string; readonly path: string; readonly cell: SecretCell }

/** A token names one person: shared by two, the record of an act would name the wrong one (I9). */
export function checkOperators(operators: readonly NamedCell[]): readonly ConfigProblem[] {
  return operators.flatMap(({ path, cell }, index) => {
    const bytes = cell.bytes()
    const twin = operators.slice(0, index).find((other) => other.cell.bytes().equals(bytes))
    if (twin === undefined || bytes.length === 0) return []
    return [error(`${path}.token`, `is the same as the token of operator "${twin.name}"; acts could not be told apart`)]
  })
}
