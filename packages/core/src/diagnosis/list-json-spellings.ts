import { listJsonTokens } from './list-json-tokens.js'

export type JsonSpelling = { readonly code: string; readonly words: string; readonly text: string }

/**
 * One value as the usual serialisers write it. Numbers that JavaScript can't hold are lost where it is written anew, so
 * that those spellings fail; where only the space between tokens changes, they keep every digit.
 * @param json the text that it was read from
 */
export function listJsonSpellings(value: unknown, json: string): readonly JsonSpelling[] {
  const tokens = listJsonTokens(json)
  const minified = JSON.stringify(value)
  const spaced = separate(value)
  return [
    { code: 'minified', words: 'minified JSON', text: tokens.join('') },
    {
      code: 'spaced',
      words: 'JSON with a space after each colon and comma',
      text: tokens.map((token) => (token === ',' || token === ':' ? `${token} ` : token)).join(''),
    },
    { code: 'minified', words: 'minified JSON', text: minified },
    { code: 'minified_ascii', words: 'minified JSON with \\u escapes', text: toAscii(minified) },
    { code: 'minified_slashes', words: 'minified JSON with escaped slashes', text: minified.replaceAll('/', '\\/') },
    {
      code: 'minified_slashes_ascii',
      words: 'minified JSON with escaped slashes and \\u escapes',
      text: toAscii(minified).replaceAll('/', '\\/'),
    },
    { code: 'minified_html', words: 'minified JSON with <, > and & escaped', text: escapeHtml(minified) },
    { code: 'spaced', words: 'JSON with a space after each colon and comma', text: spaced },
    {
      code: 'spaced_ascii',
      words: 'JSON with a space after each colon and comma, and \\u escapes',
      text: toAscii(spaced),
    },
    { code: 'indented_2', words: 'JSON indented by two', text: JSON.stringify(value, null, 2) },
    { code: 'indented_4', words: 'JSON indented by four', text: JSON.stringify(value, null, 4) },
  ]
}

/** A text in JSON has no raw newline, so that every one stands between tokens. */
function separate(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/,\n */g, ', ').replaceAll(/\n */g, '')
}

function toAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function escapeHtml(json: string): string {
  return json.replaceAll(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
}
