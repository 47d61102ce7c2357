import type { Preset } from '../preset.js'
import { twilioScheme } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { composite, firstOf, form, header, optional } from './places.js'

export type TwilioOptions = {
  /** `empty` suits status callbacks; `twiml` answers a call or a message with "do nothing". Default `empty`. */
  readonly reply?: 'empty' | 'twiml'
}

const TWIML = { contentType: 'text/xml; charset=utf-8', text: '<?xml version="1.0" encoding="UTF-8"?><Response/>' }
const STATUS = firstOf(form('MessageStatus'), form('CallStatus'), form('SmsStatus'))

/** One call or message has many callbacks: the token tells them apart, and what they are about is signed. */
export function twilio(options: TwilioOptions = {}): Preset {
  const reply = options.reply === 'twiml' ? ({ status: 200, fixedBody: TWIML } as const) : {}
  return definePreset({
    name: 'twilio',
    scheme: twilioScheme(),
    decode: { whenForm: 'form', otherwise: 'json' },
    deliveryId: composite(
      optional(header('i-twilio-idempotency-token')),
      optional(firstOf(form('MessageSid'), form('CallSid'), form('SmsSid'))),
      optional(STATUS),
    ),
    eventType: STATUS,
    horizonDays: 7,
    ack: { ...reply, timeoutS: 15 },
  })
}
