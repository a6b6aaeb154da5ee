// What a source file defines: its functions, types and constants, with the type that a method belongs to.

/** @typedef {{ name: string, owner: string | undefined }} Definition */

const RUST_ITEM = /^(?:pub(?:\([^)]*\))? )?(?:(?:async|const|unsafe) )*(?:fn|struct|enum|trait|type|const|static|union|mod) (\w+)/;
const RUST_MACRO = /^macro_rules! (\w+)/;
const RUST_MEMBER = /^ {4}(?:pub(?:\([^)]*\))? )?(?:(?:async|const|unsafe) )*(?:fn|const|type) (\w+)/;
const RUST_BLOCK = /^(?:pub(?:\([^)]*\))? )?(?:unsafe )?(impl|trait)\b(.*)$/;
const RUST_TESTS = /^#\[cfg\(test\)\]\nmod tests/m;
const SCRIPT_ITEM =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*? ?|class |interface |type |enum |const |let )(\w+)/;
const SCRIPT_CLASS = /^(?:export )?(?:default )?(?:abstract )?class (\w+)/;
const SCRIPT_MEMBER = /^ {2}(?:(?:static|async|get|set|override|private|protected|public) )*\*?(#?\w+)(?:<[^(]*>)?\(/;

/** The type that a block of methods is of: `impl<T> Trait<T> for Type<T>` and `impl Type` are both of `Type`. @param {string} rest */
function ownerOf(rest) {
  const header = rest.includes(" for ") ? (rest.split(" for ").at(-1) ?? "") : rest.replace(/^<.*?>(?= )/, "");
  return /(\w+)(?=\s*(?:[<{:]|where\b|$))/.exec(header.replace(/^\s*(?:\w+::)*/, ""))?.[1];
}

/** @param {string} text @returns {Definition[]} */
function rustDefinitions(text) {
  const end = RUST_TESTS.exec(text)?.index ?? text.length;
  /** @type {Definition[]} */
  const found = [];
  /** @type {string | undefined} */
  let owner;
  for (const line of text.slice(0, end).split("\n")) {
    if (line.startsWith("}")) owner = undefined;
    const name = (RUST_ITEM.exec(line) ?? RUST_MACRO.exec(line))?.[1];
    if (name !== undefined) found.push({ name, owner: undefined });
    const block = RUST_BLOCK.exec(line);
    if (block !== null && !line.endsWith("}")) owner = ownerOf(block[2] ?? "");
    const member = RUST_MEMBER.exec(line)?.[1];
    if (member !== undefined && owner !== undefined) found.push({ name: member, owner });
  }
  return found;
}

/** @param {string} text @returns {Definition[]} */
function scriptDefinitions(text) {
  /** @type {Definition[]} */
  const found = [];
  /** @type {string | undefined} */
  let owner;
  for (const line of text.split("\n")) {
    if (line.startsWith("}")) owner = undefined;
    const name = SCRIPT_ITEM.exec(line)?.[1];
    if (name !== undefined) found.push({ name, owner: undefined });
    owner = SCRIPT_CLASS.exec(line)?.[1] ?? owner;
    const member = SCRIPT_MEMBER.exec(line)?.[1];
    if (member !== undefined && owner !== undefined) found.push({ name: member, owner });
  }
  return found;
}

/** What a file defines outside of its tests. @param {string} file @param {string} text */
export const definitionsIn = (file, text) => (file.endsWith(".rs") ? rustDefinitions(text) : scriptDefinitions(text));

/** Splits `Type::method`, or `Class.method` in a script. @param {string} said @returns {Definition} */
export function definitionSaid(said) {
  const [name = "", owner] = said.split(/::|\./).reverse();
  return { name, owner };
}

/** Those of the definitions that a text names. @param {readonly Definition[]} definitions @param {string} said */
export function named(definitions, said) {
  const { name, owner } = definitionSaid(said);
  return definitions.filter((one) => one.name === name && (owner === undefined || one.owner === owner));
}
