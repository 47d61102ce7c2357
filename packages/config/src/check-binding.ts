import type { DeliveryIdAt, ValueAt } from '@counterfoil/core'
import { formatDuration } from './duration.js'
import type { SourceOutline } from './outline-source.js'
import { type ConfigProblem, warning } from './problem.js'
import type { SourceParts } from './source-schema.js'

/** Says in words what a scheme leaves open. */
export function checkBinding(path: string, parts: SourceParts, outline: SourceOutline): readonly ConfigProblem[] {
  const { scheme, preset, contract } = outline
  const at = (option: string) => `${path}.${preset === null ? option : 'preset'}`
  const problems: ConfigProblem[] = []
  if (!scheme.binds.body) {
    problems.push(warning(at('verify'), describeUnsignedBody(scheme.binds.time)))
  } else {
    if (!scheme.binds.time && parts.maxAge === undefined) {
      const horizon = formatDuration(contract.redeliveryHorizonMs)
      const message = `the signature binds no time: a captured push stays valid as long as its key. The claim absorbs a repeat for ${horizon} at least; set maxAge if the signed body holds its time`
      problems.push(warning(at('verify'), message))
    }
    const unsigned = listUnsigned(outline)
    if (unsigned.length > 0) problems.push(warning(at('verify'), describeUnsigned(unsigned, preset === null)))
  }
  if (contract.deliveryId.kind === 'body_digest') {
    problems.push(warning(at('deliveryId'), 'two real events with equal bodies count as one delivery'))
  }
  return problems
}

function describeUnsignedBody(bindsTime: boolean): string {
  const until = bindsTime ? 'until the token expires' : 'as long as the secret is in use'
  return `the sender signs no content, it only says who it is: whoever sees one push can send any other in its name ${until}. Let only TLS carry pushes here, and let routes ask the sender for what matters most`
}

function describeUnsigned(fields: readonly string[], hasChoice: boolean): string {
  const advice = hasChoice ? '; a pointer into the signed body closes the gap' : ''
  return `the signature does not cover ${fields.join(' and ')}: whoever captures a push can send it again under another one while it is fresh. Business keys still make it one action${advice}`
}

function listUnsigned({ scheme, contract }: SourceOutline): readonly string[] {
  const idHeaders = scheme.binds.id ? [] : listHeaders(contract.deliveryId)
  const { eventType } = contract
  const typeHeaders = eventType === null || eventType.kind === 'fixed' ? [] : listHeaders(eventType)
  return [
    idHeaders.length === 0 ? null : `the delivery id (${idHeaders.join(', ')})`,
    typeHeaders.length === 0 ? null : `the event type (${typeHeaders.join(', ')})`,
  ].filter((field) => field !== null)
}

function listHeaders(at: DeliveryIdAt | ValueAt): readonly string[] {
  switch (at.kind) {
    case 'header':
      return [at.header]
    case 'first_of':
      return at.places.flatMap(listHeaders)
    case 'composite':
      return at.parts.flatMap((part) => listHeaders(part.at))
    default:
      return []
  }
}
