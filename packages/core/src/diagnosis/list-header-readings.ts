import type { PushRequest } from '../intake/push-request.js'
import type { Variation } from './variation.js'

const NEXT =
  "find what adds the header a second time, such as a proxy that copies it: which of the two counts is anybody's guess"

/** Headers that came more than once, each as if only its first or its last value had come. */
export function listHeaderReadings(headers: PushRequest['headers']): readonly Variation[] {
  return [...headers].flatMap(([name, values]) => {
    if (values.length < 2) return []
    const kept = [
      { which: 'first', value: values[0] ?? '' },
      { which: 'last', value: values.at(-1) ?? '' },
    ]
    return kept.map(({ which, value }) => ({
      part: 'header' as const,
      code: `header_${which}_only`,
      words: `header ${name} had come once, with the ${which} of its ${values.length} values`,
      next: NEXT,
      apply: (subject) => ({
        ...subject,
        request: { ...subject.request, headers: new Map(subject.request.headers).set(name, [value]) },
      }),
    }))
  })
}
