// wasm-bindgen's glue as the package ships it. The generated glue has every way of loading, which are cut out here: the package loads by
// itself. The glue is read with a parser, and an unknown form stops the build, because another wasm-bindgen may write another glue.
import { parseAst } from "vite";
import { CommandFailed } from "./fail.mjs";

/** Loads, compiles and instantiates; the facade does all three (`src/js/load/loader.ts`, `compile.ts`, `instance.ts`). */
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
