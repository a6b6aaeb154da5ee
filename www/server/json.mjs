// JSON as a Go server writes it.

const ESCAPES = /** @type {Record<string, string>} */ ({
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
});

/**
 * Encodes like Go's `encoding/json`: the characters that HTML or JavaScript could misread are written as escapes. Clients meet such
 * escapes in real answers, so the imitation sends them too.
 * @param {unknown} value
 * @param {number} [indent] spaces for a pretty answer
 * @returns {string}
 */
export function encodeJson(value, indent) {
  return JSON.stringify(value, null, indent).replace(/[<>&\u2028\u2029]/g, (character) => ESCAPES[character]);
}

/**
 * A Go `%q` of a string, for messages.
 * @param {string} text
 */
export function quote(text) {
  return JSON.stringify(text);
}
