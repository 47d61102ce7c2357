/** One thing that is wrong (`error`: we don't start) or unwise (`warning`) about a configuration or a setting. */
export type ConfigProblem = {
  readonly severity: 'error' | 'warning'
  /** Where, such as `sources.tickets.keys[0].secret`; `''` is the whole. */
  readonly path: string
  /** `config check` fails on it, although every process starts. */
  readonly demanded?: true
  /** What, why and what next, in one or two sentences. Never a secret. */
  readonly message: string
}

export function error(path: string, message: string): ConfigProblem {
  return { severity: 'error', path, message }
}

export function warning(path: string, message: string): ConfigProblem {
  return { severity: 'warning', path, message }
}

/** A warning to whoever starts, an error to whoever checks. */
export function demand(path: string, message: string): ConfigProblem {
  return { severity: 'warning', demanded: true, path, message }
}

/** `path: message`, for a terminal. */
export function formatProblem(problem: ConfigProblem): string {
  const mark = problem.severity === 'warning' ? 'warning: ' : ''
  return problem.path === '' ? `${mark}${problem.message}` : `${mark}${problem.path}: ${problem.message}`
}
