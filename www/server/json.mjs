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
 * Says what is wrong with a document as `encoding/json` does.
 * @param {string} text @param {unknown} error of JSON.parse
 */
export function jsonProblem(text, error) {
  const message = error instanceof Error ? error.message : String(error);
  const position = /at position (\d+)/.exec(message)?.[1];
  if (text === "" || message.startsWith("Unexpected end") || (position !== undefined && Number(position) >= text.length))
    return "unexpected end of JSON input";
  const character = position === undefined ? /^Unexpected token '(.)'/u.exec(message)?.[1] : text[Number(position)];
  return `invalid character '${character ?? text[0]}' looking for beginning of value`;
}

/** How Go's JSON decoder calls the type of a value. @param {unknown} value */
export function jsonType(value) {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value === "boolean" ? "bool" : typeof value;
}

/**
 * A Go `%q` of a string, for messages.
 * @param {string} text
 */
export function quote(text) {
  return JSON.stringify(text);
}
