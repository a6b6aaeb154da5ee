// Label selectors: `app=web,tier in (a,b),!canary,weight>3`, with the grammar and the messages of an API server.
import { quote } from "./json.mjs";

const BINARY_OPERATORS = ["in", "notin", "=", "==", "!=", ">", "<"];
const SPECIAL = new Set(["=", "!", "(", ")", ",", ">", "<"]);
const SPACE = new Set([" ", "\t", "\r", "\n"]);

const NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_RULE = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME}')`;
const VALUE_RULE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${NAME})?')`;
const SUBDOMAIN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const NAME_PATTERN = new RegExp(`^${NAME}$`);
const SUBDOMAIN_PATTERN = new RegExp(`^${SUBDOMAIN}$`);

/** @typedef {{ kind: "word" | "symbol" | "end", text: string }} Token */
/** @typedef {{ key: string, operator: string, values: string[] }} Requirement */

/** All requirements must hold. */
export class LabelSelector {
  /** @param {Requirement[]} requirements */
  constructor(requirements) {
    this.requirements = requirements;
  }

  get empty() {
    return this.requirements.length === 0;
  }

  /** @param {Record<string, string>} labels */
  matches(labels) {
    return this.requirements.every((requirement) => holds(requirement, labels));
  }
}

/** @param {Requirement} requirement @param {Record<string, string>} labels */
function holds({ key, operator, values }, labels) {
  const present = Object.hasOwn(labels, key);
  const value = labels[key];
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return present && values.includes(value);
    case "notin":
    case "!=":
      return !present || !values.includes(value);
    case "exists":
      return present;
    case "!":
      return !present;
    default: {
      if (!present || !isInteger(value)) return false;
      return operator === ">" ? BigInt(value) > BigInt(values[0]) : BigInt(value) < BigInt(values[0]);
    }
  }
}

/** @param {string} text */
const isInteger = (text) => /^-?[0-9]{1,18}$/.test(text);

/**
 * @param {string} text
 * @returns {LabelSelector}
 * @throws {SyntaxError} with the API server's message
 */
export function parseLabelSelector(text) {
  const tokens = lex(text);
  let position = 0;
  const peek = () => tokens[position];
  const next = () => tokens[position++];
  /** @type {Requirement[]} */
  const requirements = [];
  for (;;) {
    const token = peek();
    if (token.kind === "end") break;
    if (token.kind !== "word" && !isSymbol(token, "!"))
      throw new SyntaxError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    try {
      requirements.push(requirement(peek, next));
    } catch (error) {
      throw new SyntaxError(`unable to parse requirement: ${/** @type {Error} */ (error).message}`);
    }
    const after = next();
    if (after.kind === "end") break;
    if (!isSymbol(after, ",")) throw new SyntaxError(`found '${after.text}', expected: ',' or 'end of string'`);
    const following = peek();
    if (following.kind !== "word" && !isSymbol(following, "!"))
      throw new SyntaxError(`found '${following.text}', expected: identifier after ','`);
  }
  return new LabelSelector(requirements);
}

/** @param {Token} token @param {string} text */
const isSymbol = (token, text) => token.kind === "symbol" && token.text === text;

/** @param {() => Token} peek @param {() => Token} next @returns {Requirement} */
function requirement(peek, next) {
  let token = next();
  const negated = isSymbol(token, "!");
  if (negated) token = next();
  if (token.kind !== "word") throw new SyntaxError(`found '${token.text}', expected: identifier`);
  const key = token.text;
  const keyProblem = labelKeyProblems(key).join("; ");
  if (keyProblem) throw new SyntaxError(`<nil>: Invalid value: ${quote(key)}: ${keyProblem}`);
  const follower = peek();
  if (negated) return { key, operator: "!", values: [] };
  if (follower.kind === "end" || isSymbol(follower, ",")) return { key, operator: "exists", values: [] };
  const operator = next();
  if (!BINARY_OPERATORS.includes(operator.text)) throw new SyntaxError(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
  const values = operator.text === "in" || operator.text === "notin" ? valueSet(peek, next) : exactValue(peek, next);
  return checked({ key, operator: operator.text, values: [...new Set(values)].sort() });
}

/** @param {Requirement} candidate */
function checked(candidate) {
  /** @type {string[]} */
  const problems = [];
  if (candidate.operator === ">" || candidate.operator === "<") {
    candidate.values.forEach((value, index) => {
      if (!isInteger(value))
        problems.push(`values[${index}]: Invalid value: ${quote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`);
    });
  }
  candidate.values.forEach((value, index) => {
    const problem = labelValueProblems(value).join("; ");
    if (problem) problems.push(`values[${index}][${candidate.key}]: Invalid value: ${quote(value)}: ${problem}`);
  });
  if (problems.length > 0) throw new SyntaxError(problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`);
  return candidate;
}

/** @param {() => Token} peek @param {() => Token} next */
function exactValue(peek, next) {
  const token = peek();
  if (token.kind === "end" || isSymbol(token, ",")) return [""];
  next();
  if (token.kind === "word") return [token.text];
  throw new SyntaxError(`found '${token.text}', expected: identifier`);
}

/** @param {() => Token} peek @param {() => Token} next */
function valueSet(peek, next) {
  const open = next();
  if (!isSymbol(open, "(")) throw new SyntaxError(`found '${open.text}' expected: '('`);
  const first = peek();
  if (isSymbol(first, ")")) {
    next();
    return [""];
  }
  if (first.kind !== "word" && !isSymbol(first, ",")) throw new SyntaxError(`found '${first.text}', expected: ',', ')' or identifier`);
  /** @type {string[]} */
  const values = [];
  for (;;) {
    const token = next();
    const follower = peek();
    if (token.kind === "word") {
      values.push(token.text);
      if (isSymbol(follower, ")")) break;
      if (!isSymbol(follower, ",")) throw new SyntaxError(`found '${follower.text}', expected: ',' or ')'`);
    } else if (isSymbol(token, ",")) {
      if (values.length === 0) values.push("");
      if (isSymbol(follower, ")")) {
        values.push("");
        break;
      }
      if (isSymbol(follower, ",")) values.push("");
    } else {
      throw new SyntaxError(`found '${token.text}', expected: ',', or identifier`);
    }
  }
  next();
  return values;
}

/** @param {string} text @returns {Token[]} */
function lex(text) {
  /** @type {Token[]} */
  const tokens = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (SPACE.has(character)) {
      at += 1;
    } else if (SPECIAL.has(character)) {
      // The longest known operator from here: "==" before "=", "!=" before "!".
      const pair = text.slice(at, at + 2);
      const symbol = pair === "==" || pair === "!=" ? pair : character;
      tokens.push({ kind: "symbol", text: symbol });
      at += symbol.length;
    } else {
      const start = at;
      while (at < text.length && !SPACE.has(text[at]) && !SPECIAL.has(text[at])) at += 1;
      tokens.push({ kind: "word", text: text.slice(start, at) });
    }
  }
  // Two ends: a parser that consumed one may still look ahead.
  tokens.push({ kind: "end", text: "" }, { kind: "end", text: "" });
  return tokens;
}

/** @param {string} key of a label, or of an annotation in lower case @returns {string[]} what is wrong with it */
export function labelKeyProblems(key) {
  const parts = key.split("/");
  /** @type {string[]} */
  const problems = [];
  let name = key;
  if (parts.length === 2) {
    name = parts[1];
    if (parts[0] === "") problems.push("prefix part must be non-empty");
    else if (parts[0].length > 253) problems.push("prefix part must be no more than 253 bytes");
    else if (!SUBDOMAIN_PATTERN.test(parts[0])) problems.push(`prefix part ${SUBDOMAIN_RULE}`);
  } else if (parts.length > 2) {
    return [`a valid label key ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (name.length > 63) problems.push("name part must be no more than 63 bytes");
  if (!NAME_PATTERN.test(name)) problems.push(`name part ${NAME_RULE}`);
  return problems;
}

/** @param {string} value @returns {string[]} what is wrong with it */
export function labelValueProblems(value) {
  /** @type {string[]} */
  const problems = [];
  if (value.length > 63) problems.push("must be no more than 63 bytes");
  if (value !== "" && !NAME_PATTERN.test(value)) problems.push(VALUE_RULE);
  return problems;
}

/** @param {string} name @returns {string} "" when an object may be called so */
export function subdomainProblem(name) {
  if (name.length > 253) return "must be no more than 253 bytes";
  return SUBDOMAIN_PATTERN.test(name) ? "" : SUBDOMAIN_RULE;
}
