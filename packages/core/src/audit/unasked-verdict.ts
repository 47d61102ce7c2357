import type { EntryAdvice } from './advise.js'
import type { Verdict } from './verdict.js'

/** The verdict on an entry before it is asked whether a redrive is safe: one function answers that for all of them. */
export type UnaskedVerdict = Omit<Verdict, 'advice'> & { readonly advice: EntryAdvice }
