import { formatDuration } from './duration.js'
import { type ConfigProblem, error } from './problem.js'
import type { PresetSourceParts } from './source-schema.js'

/** What an owner may change of a preset, and what the preset itself has to say. */
export function checkPreset(path: string, parts: PresetSourceParts): readonly ConfigProblem[] {
  const { preset } = parts
  return [
    ...preset.notes.map(({ severity, option, message }) => ({ severity, path: `${path}.${option}`, message })),
    ...checkHorizonOf(path, parts),
    ...checkAckOf(path, parts),
  ]
}

function checkHorizonOf(path: string, { preset, redeliveryHorizon }: PresetSourceParts): readonly ConfigProblem[] {
  const least = preset.contract.redeliveryHorizonMs
  if (redeliveryHorizon === undefined || redeliveryHorizon >= least) return []
  const message = `${formatDuration(redeliveryHorizon)} is shorter than the ${formatDuration(least)} in which ${preset.name} may deliver again: a claim could be forgotten before its repeat comes, and act twice`
  return [error(`${path}.redeliveryHorizon`, message)]
}

/** A sender that repeats a refused push, or drops it, must not be refused what it can't mend. */
function checkAckOf(path: string, { preset, ack }: PresetSourceParts): readonly ConfigProblem[] {
  if (ack === undefined) return []
  const usual = preset.contract.ack
  const problems: ConfigProblem[] = []
  if (usual.onMalformed === 'quarantine') {
    for (const name of ['onConflict', 'onMalformed'] as const) {
      if (ack[name] === undefined || ack[name] === usual[name]) continue
      const message = `${preset.name} takes a refusal as "again" or as "delivered", so neither helps; leave it at ${usual[name]}`
      problems.push(error(`${path}.ack.${name}`, message))
    }
  }
  if (usual.fixedBody !== null && (ack.body !== undefined || ack.status === 204)) {
    const message = `the preset answers with ${usual.fixedBody.contentType} of its own; leave status and body out`
    problems.push(error(`${path}.ack`, message))
  }
  return problems
}
