// wasm-bindgen's glue as the package ships it. What is generated serves every host and every way of loading, and says the same thing anew for
// each call: a quarter of the JavaScript that a page would load. Here it loses what this package does itself or never asks for, and what is
// left is said once. It is read with a parser, and what it does not know stops the build: another wasm-bindgen may write another glue.
import { parseAst } from "vite";
import { CommandFailed } from "./fail.mjs";

/** Loads, compiles and instantiates; the facade does all three (`src/js/loader.ts`, `compile.ts`, `init.ts`). */
const LOADING = ["__wbg_load", "__wbg_init", "initSync", "__wbg_finalize_init"];

/**
 * The glue without a way to load anything: `imports()` is what the module is instantiated with, and `adopt()` takes the instance.
 */
export function withoutLoading(text) {
  const glue = new Glue(text);
  const removed = new Map(glue.program.body.filter((node) => LOADING.includes(node.id?.name)).map((node) => [node.id.name, node]));
  for (const name of LOADING) glue.remove(removed.get(name) ?? unknown(`${name} is missing`));
  const starts = removed.get("__wbg_finalize_init").body.body.filter((node) => /^wasm\.[\w$]+\(\);$/.test(glue.of(node)));
  const exported = glue.program.body.filter((node) => glue.of(node) === "export { initSync, __wbg_init as default };");
  const held = glue.program.body.filter((node) => glue.of(node) === "let wasmModule, wasmInstance, wasm;");
  if (starts.length !== 1 || exported.length !== 1 || held.length !== 1) unknown("it takes its instance in another way");
  glue.replace(held[0], "let wasm;");
  glue.replace(
    exported[0],
    `/** From now on everything here calls this instance. There is one for a page: objects of another would read the memory of this one. */
export function adopt(instance) {
    wasm = instance.exports;
    ${glue.of(starts[0])}
}

export { __wbg_get_imports as imports };`,
  );
  const without = glue.toString();
  const left = without.match(/import\.meta|\bfetch\(|\bWebAssembly\b/);
  if (left) unknown(`it uses ${left[0]}`);
  return without;
}

/**
 * The same glue in fewer words. For release builds alone: those for development check what crosses, in other words at each place.
 */
export function inFewerWords(text) {
  for (const step of [withOneAllocator, withoutGuards, withShortCalls, withShortImports, withoutUnused]) text = step(text);
  return text;
}

const CHECKED = `
/** What a call gave, of one that may fail: the value, the error, and whether it is one. */
function checked(ret) {
    if (ret[2]) {
        throw takeFromExternrefTable0(ret[1]);
    }
    return ret[0];
}

/** The same of a call without a value. */
function done(ret) {
    if (ret[1]) {
        throw takeFromExternrefTable0(ret[0]);
    }
}
`;

/** What a call of the module's throws is kept for it. */
const caughtBy = (keep) => `function caught(f) {
    return (...args) => {
        try {
            return f(...args);
        } catch (e) {
            const idx = addToExternrefTable0(e);
            ${keep}
        }
    };
}`;

/** Every text goes into the same memory: who writes it there need not be told how. */
function withOneAllocator(text) {
  const glue = new Glue(text);
  const writer = glue.declared("passStringToWasm0");
  const [arg, ...functions] = writer.params.map((param) => param.name);
  const calls = glue.nodes((node) => node.type === "CallExpression" && node.callee.name === "passStringToWasm0");
  const given = new Set(calls.map(({ arguments: [, ...rest] }) => rest.map((node) => glue.of(node)).join()));
  const [other, ...others] = writer.body.body;
  if (functions.join() !== "malloc,realloc" || given.size !== 1 || glue.of(other.test) !== "realloc === undefined") {
    unknown("it writes texts in another way");
  }
  const [malloc, realloc] = [...given][0].split(",");
  glue.replace({ start: writer.params[0].start, end: writer.params.at(-1).end }, arg);
  glue.remove(other);
  for (const node of calls) glue.replace({ start: node.arguments[0].end, end: node.arguments.at(-1).end }, "");
  for (const node of glue.nodes((node) => node.type === "CallExpression", others)) {
    if (functions.includes(node.callee.name)) glue.replace(node.callee, node.callee.name === "malloc" ? malloc : realloc);
  }
  return glue.toString();
}

/** What hosts have that this package runs on, and what nobody calls. */
function withoutGuards(text) {
  const glue = new Glue(text);
  for (const node of glue.program.body) {
    if (node.type === "IfStatement") {
      if (!/^Symbol\.dispose$|^!\('encodeInto' in /.test(glue.of(node.test))) unknown(`it asks for ${glue.of(node.test)}`);
      glue.remove(node);
    }
    const { init } = node.declarations?.[0] ?? {};
    if (init?.type === "ConditionalExpression") {
      if (!glue.of(init.test).includes("typeof FinalizationRegistry === 'undefined'")) unknown(`it asks for ${glue.of(init.test)}`);
      glue.replace(init, `/* @__PURE__ */ ${glue.of(init.alternate)}`);
    }
  }
  for (const { body } of glue.classes()) {
    const others = body.body.filter(({ key }) => key.name !== "free");
    for (const member of body.body) {
      const isUsed = () => others.some((other) => other !== member && glue.of(other).includes("this.__destroy_into_raw()"));
      if (member.key.name === "free" || (member.key.name === "__destroy_into_raw" && !isUsed())) glue.remove(glue.withComment(member));
    }
  }
  return glue.toString();
}

const AS_THEY_ARE = ["constructor", "__wrap", "__destroy_into_raw"];

/** What calls the module: each as one expression. */
function withShortCalls(text) {
  const glue = new Glue(text);
  const methods = glue.classes().flatMap(({ body }) => body.body.filter(({ key }) => !AS_THEY_ARE.includes(key.name)));
  const functions = glue.program.body.map((node) => node.declaration ?? node).filter((node) => node.type === "FunctionDeclaration");
  const callers = functions.filter(({ id: { name } }) => name.includes("convert__closures") || glue.isExported(name));
  for (const { body, name } of [
    ...methods.map(({ key, value }) => ({ body: value.body, name: key.name })),
    ...callers.filter(({ id }) => id.name !== "adopt").map(({ id, body }) => ({ body, name: id.name })),
  ]) {
    glue.replace(body, `{ ${shortCall(glue, body.body, name)} }`);
  }
  return glue.toString() + CHECKED;
}

function shortCall(glue, statements, name) {
  // What is written into memory before the call, and by which names the call knows it.
  const written = new Map();
  const rest = [...statements];
  for (; rest.length > 0; rest.shift()) {
    const source = glue.of(rest[0]).replace(/;$/, "");
    const [, local, value] = /^(?:const|let|var) ((?:ptr|len)\d*) = (.*)$/.exec(source) ?? [];
    if (/^_assertClass\(\w+, \w+\)$/.test(source)) continue; // the facade hands over what it was given
    if (local === undefined || !/^WASM_VECTOR_LEN$|\bpassStringToWasm0\(\w+\)$|^this\.__destroy_into_raw\(\)$/.test(value)) break;
    written.set(local, value);
  }
  const [call, ...tail] = rest;
  const node =
    call?.type === "VariableDeclaration" && call.declarations[0].id.name === "ret" ? call.declarations[0].init : call?.expression;
  if (node?.type !== "CallExpression" || !/^wasm\.[\w$]+$/.test(glue.of(node.callee))) unknown(`${name} is no plain call`);
  const given = node.arguments.map((argument) => glue.of(argument));
  // Arguments are evaluated in their order, which has to be the order in which the texts were written: there is one place for their lengths.
  if (given.filter((argument) => written.has(argument)).join() !== [...written.keys()].join()) unknown(`${name} writes in another order`);
  const short = `${glue.of(node.callee)}(${given.map((argument) => written.get(argument) ?? argument).join(", ")})`;
  const then = tail.map((statement) => glue.of(statement).replace(/\s+/g, " ")).join(" ");
  const end = /^if \(ret\[2\]\) \{ throw takeFromExternrefTable0\(ret\[1\]\); \} return ([^;]*\bret\[0\][^;]*);$/.exec(then);
  if (end) return `return ${end[1].replace("ret[0]", `checked(${short})`)};`;
  if (then === "if (ret[1]) { throw takeFromExternrefTable0(ret[0]); }") return `done(${short});`;
  if (then === "return ret;") return `return ${short};`;
  if (then === "") return `${short};`;
  return unknown(`${name} ends in another way`);
}

/** What the module calls. */
function withShortImports(text) {
  const glue = new Glue(text);
  const [imports] = glue.declared("__wbg_get_imports").body.body;
  const properties = imports?.declarations?.[0].init.properties ?? unknown("it imports in another way");
  for (const { key, value } of properties.filter(({ value }) => value.type === "FunctionExpression")) {
    const caught = value.body.body[0]?.argument;
    const isCaught = value.body.body.length === 1 && caught?.callee?.name === "handleError";
    const short = shortImport(glue, isCaught ? caught.arguments[0] : value, key.name);
    glue.replace(value, isCaught ? `caught(${short})` : short);
  }
  const handler = glue.declared("handleError");
  const [store] = handler.body.body[0].handler.body.body.slice(-1);
  if (!/^wasm\.[\w$]+\(idx\);$/.test(glue.of(store))) unknown("it keeps what was thrown in another way");
  glue.replace(handler, caughtBy(glue.of(store)));
  return glue.toString();
}

function shortImport(glue, { params, body }, name) {
  const asks = glue.nodes(({ type, name }) => type === "ThisExpression" || (type === "Identifier" && name === "arguments"), body);
  if (asks.length > 0) unknown(`the import ${name} asks who calls it`);
  const source = glue.of(body).replace(/^ *\/\/.*\n/gm, ""); // the types on the other side
  const head = `(${params.map((param) => glue.of(param)).join(", ")}) =>`;
  const flat = source.replace(/\s+/g, " ");
  const only = /^\{ const ret = ([^;]*); return ret; \}$/.exec(flat)?.[1];
  const isInstance = /^\{ let result; try \{ result = (arg0 instanceof \w+); \} catch \(_\) \{ result = false; \} const ret/.exec(
    flat,
  )?.[1];
  // The same object by four names, of which the first is everywhere.
  const isGlobal =
    /^\{ const ret = typeof (\w+) === 'undefined' \? null : \1; return isLikeNone\(ret\) \? 0 : addToExternrefTable0\(ret\); \}$/;
  const global = isGlobal.test(flat) ? "addToExternrefTable0(globalThis)" : undefined;
  return `${head} ${only ?? isInstance ?? global ?? source}`;
}

/** Functions that nothing calls any more. */
function withoutUnused(text) {
  const glue = new Glue(text);
  const uses = (name) => text.split(new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`)).length - 1;
  // What calls itself is counted by its own text, too.
  for (const node of glue.program.body.filter(({ type }) => type === "FunctionDeclaration")) {
    const own = glue.of(node).split(node.id.name).length - 1;
    if (uses(node.id.name) === own) glue.remove(node);
  }
  const without = glue.toString();
  return without === text ? text : withoutUnused(without);
}

/** A text with its syntax tree, and changes to be made in it. */
class Glue {
  constructor(text) {
    this.text = text;
    this.program = parseAst(text);
    this.changes = [];
  }

  of({ start, end }) {
    return this.text.slice(start, end);
  }

  replace({ start, end }, text) {
    this.changes.push({ start, end, text });
  }

  remove(node) {
    this.replace(node, "");
  }

  /** With the comment that stands before it. */
  withComment({ start, end }) {
    const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(this.text.slice(0, start));
    return { start: comment?.index ?? start, end };
  }

  declared(name) {
    return this.program.body.find((node) => node.type === "FunctionDeclaration" && node.id.name === name) ?? unknown(`${name} is missing`);
  }

  classes() {
    return this.program.body.map((node) => node.declaration).filter((node) => node?.type === "ClassDeclaration");
  }

  isExported(name) {
    return this.program.body.some((node) => node.type === "ExportNamedDeclaration" && node.declaration?.id?.name === name);
  }

  nodes(holds, from = this.program) {
    if (from === null || typeof from !== "object") return [];
    const below = Object.values(from).flatMap((value) => this.nodes(holds, value));
    return typeof from.type === "string" && holds(from) ? [from, ...below] : below;
  }

  toString() {
    let { text } = this;
    let before = Infinity;
    for (const { start, end, text: other } of this.changes.toSorted((a, b) => b.start - a.start)) {
      if (end > before) throw new Error(`two changes of the glue overlap at ${start}`);
      text = text.slice(0, start) + other + text.slice(end);
      before = start;
    }
    return text;
  }
}

function unknown(what) {
  throw new CommandFailed(`wasm-bindgen's glue has changed its form: ${what}.`);
}
