// Which file of the project imports which, read from the sources. Tests do not count: they may look at everything.
import { dirname, posix } from "node:path";

const join = posix.join;

/** The names of a `use` tree, each with its whole path: `a::{b, c::d}` is `a::b` and `a::c::d`. @param {string} tree @returns {string[]} */
export function expand(tree) {
  const text = tree.trim();
  const open = text.indexOf("{");
  if (open < 0) return [text.replace(/\s+as\s+\w+$/, "").trim()];
  const prefix = text.slice(0, open);
  const names = [];
  let depth = 0;
  let name = "";
  for (const char of text.slice(open + 1, text.lastIndexOf("}"))) {
    if (char === "," && depth === 0) {
      names.push(name);
      name = "";
      continue;
    }
    depth += { "{": 1, "}": -1 }[char] ?? 0;
    name += char;
  }
  if (name.trim()) names.push(name);
  return names.flatMap((name) => expand(name).map((rest) => prefix + rest));
}

/** What is left of a Rust file without its comments, its text literals and its tests, which stand at its end. @param {string} text */
const rustCode = (text) =>
  text
    .split(/^#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*(?:pub(?:\([a-z]+\))? )?mod /m)[0]
    .replace(/\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""');

/** The path of a Rust file as the compiler knows it: `src/a/mod.rs` is `a`, `src/a/b.rs` is `a::b`. @param {string} file */
const modulePath = (file) =>
  file
    .replace(/^src\//, "")
    .replace(/\.rs$/, "")
    .replace(/\/mod$/, "")
    .split("/");

/**
 * The imports among the Rust files of src: file → the files it imports.
 * @param {string[]} files @param {(file: string) => string} read @returns {Map<string, Set<string>>}
 */
export function rustImports(files, read) {
  const fileOf = new Map(files.map((file) => [modulePath(file).join("::"), file]));
  const graph = new Map();
  for (const file of files) {
    const code = rustCode(read(file));
    const here = modulePath(file);
    const paths = [...code.matchAll(/\buse\s+((?:crate|super|self)\b[^;]*);/g)].flatMap(([, tree]) => expand(tree ?? ""));
    const inline = code.replace(/\buse\s+[^;]*;/g, "").matchAll(/\b(?:crate|super)(?:::\w+)+/g);
    const found = new Set();
    for (const path of [...paths, ...[...inline].map(([path]) => path)]) {
      const target = resolve(path.split("::"), here, fileOf);
      if (target && target !== file) found.add(target);
    }
    graph.set(file, found);
  }
  return graph;
}

/** @param {string[]} path @param {string[]} here @param {Map<string, string>} fileOf */
function resolve(path, here, fileOf) {
  const rest = [...path];
  let base = [...here];
  if (rest[0] === "crate") {
    rest.shift();
    base = [];
  } else if (rest[0] === "self") rest.shift();
  for (; rest[0] === "super"; rest.shift()) base.pop();
  const whole = [...base, ...rest];
  for (let length = whole.length; length > 0; length--) {
    const file = fileOf.get(whole.slice(0, length).join("::"));
    if (file) return file;
  }
  return undefined;
}

/**
 * The imports among JavaScript and TypeScript files, those of types alone included.
 * @param {string[]} files @param {(file: string) => string} read @returns {Map<string, Set<string>>}
 */
export function scriptImports(files, read) {
  const known = new Set(files);
  const graph = new Map();
  for (const file of files) {
    const code = read(file).replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
    const found = new Set();
    for (const [, name] of code.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]*)"/g)) {
      const path = join(dirname(file), name ?? "");
      // A script that the build writes is declared beside where it will lie.
      const endings = [".ts", ".tsx", ".d.ts"].map((ending) => path.replace(/\.js$/, ending));
      const candidates = [path, ...endings, `${path}.ts`, `${path}.tsx`];
      const target = candidates.find((path) => known.has(path));
      if (target && target !== file) found.add(target);
    }
    graph.set(file, found);
  }
  return graph;
}

/** The circles of a graph: sets of files that all reach each other (Tarjan). @param {Map<string, Set<string>>} graph @returns {string[][]} */
export function circles(graph) {
  const found = [];
  const index = new Map();
  const low = new Map();
  const stack = [];
  const visit = (/** @type {string} */ file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file), low.get(next)));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found;
}
