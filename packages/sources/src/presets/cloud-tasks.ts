import type { Preset } from '../preset.js'
import { type GoogleOptions, googleScheme } from '../token-schemes.js'
import { definePreset, KEPT_HERE } from './define-preset.js'
import { noteServiceAccounts, readGoogleOptions } from './google-options.js'
import { composite, header, needed } from './places.js'

/** Tasks that are given a name must never be given it again: the second would count as a repeat of the first. */
export function cloudTasks(options: GoogleOptions): Preset {
  const google = readGoogleOptions(options ?? {})
  return definePreset({
    name: 'cloudTasks',
    scheme: googleScheme(google),
    decode: { whenForm: 'form', otherwise: 'json' },
    deliveryId: composite(needed(header('x-cloudtasks-queuename')), needed(header('x-cloudtasks-taskname'))),
    senderAttempt: header('x-cloudtasks-taskretrycount'),
    bodyLimitBytes: 2 * 1_048_576,
    horizonDays: 35,
    // The shortest deadline that a task may have.
    ack: { ...KEPT_HERE, status: 200, timeoutS: 15 },
    notes: noteServiceAccounts(google),
  })
}
