import type { Preset } from '../preset.js'
import { githubScheme } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { header } from './places.js'

/** The largest body that a source may take; GitHub's own limit is 25 MB, and it never sends a refused one again. */
const BODY_LIMIT_BYTES = 16 * 1_048_576

/** GitHub never repeats by itself; a repeat that a person asks for keeps its id. */
export function github(): Preset {
  return definePreset({
    name: 'github',
    scheme: githubScheme(),
    decode: { whenForm: 'form_payload', otherwise: 'json' },
    deliveryId: header('x-github-delivery'),
    eventType: header('x-github-event'),
    bodyLimitBytes: BODY_LIMIT_BYTES,
    horizonDays: 30,
    ack: { timeoutS: 10 },
  })
}
