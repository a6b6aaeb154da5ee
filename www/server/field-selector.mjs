// Field selectors: `status.phase=Running,spec.nodeName!=`, with the grammar and the messages of an API server.
import { quote } from "./json.mjs";

/** @typedef {{ field: string, equal: boolean, value: string }} Term */

/** All terms must hold; a field that an object lacks reads as "". */
export class FieldSelector {
  /** @param {Term[]} terms */
  constructor(terms) {
    this.terms = terms;
  }

  /** As it is written, with the names that the fields have now. */
  toString() {
    return this.terms
      .map(({ field, equal, value }) => `${field}${equal ? "=" : "!="}${value.replace(/[\\,=]/g, (character) => `\\${character}`)}`)
      .join(",");
  }

  get empty() {
    return this.terms.length === 0;
  }

  /** @param {Record<string, string>} fields */
  matches(fields) {
    return this.terms.every((term) => ((fields[term.field] ?? "") === term.value) === term.equal);
  }

  /**
   * The value a field is pinned to, when an equality term pins it.
   * @param {string} field
   */
  exact(field) {
    return this.terms.find((term) => term.field === field && term.equal)?.value;
  }
}

/**
 * @param {string} text
 * @param {import("./resources.mjs").ResourceDefinition} definition decides which fields may be asked
 * @returns {FieldSelector}
 * @throws {SyntaxError} with the API server's message
 */
export function parseFieldSelector(text, definition) {
  const terms = splitTerms(text)
    .sort()
    .filter((term) => term !== "")
    .map((term) => parseTerm(term, text));
  return new FieldSelector(terms.map((term) => ({ ...term, field: supported(term.field, definition) })));
}

/** @param {string} term @param {string} whole @returns {Term} */
function parseTerm(term, whole) {
  const match = /!=|==|=/.exec(term);
  if (!match) throw new SyntaxError(`invalid selector: '${whole}'; can't understand '${term}'`);
  return { field: term.slice(0, match.index), equal: match[0] !== "!=", value: unescapeValue(term.slice(match.index + match[0].length)) };
}

/** Splits at commas that no backslash escapes. @param {string} text */
function splitTerms(text) {
  /** @type {string[]} */
  const terms = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

/** @param {string} text */
function unescapeValue(text) {
  let value = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") {
      at += 1;
      const escaped = text[at];
      if (escaped === undefined) throw new SyntaxError("invalid field selector: invalid escape sequence: \\");
      if (escaped !== "\\" && escaped !== "," && escaped !== "=")
        throw new SyntaxError(`invalid field selector: invalid escape sequence: \\${escaped}`);
      value += escaped;
    } else if (character === "," || character === "=") {
      throw new SyntaxError(`invalid field selector: unescaped character in value: ${character.codePointAt(0)}`);
    } else {
      value += character;
    }
  }
  return value;
}

/** @param {string} field @param {import("./resources.mjs").ResourceDefinition} definition */
function supported(field, definition) {
  const known = definition.fieldAliases[field] ?? field;
  if (Object.hasOwn(definition.fields, known)) return known;
  if (definition.namesFieldsItself) throw new SyntaxError(`field label not supported: ${field}`);
  throw new SyntaxError(`${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}
