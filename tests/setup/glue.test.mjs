// What the build makes of wasm-bindgen's glue, and that it stops at a form which it does not know.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withoutLoading } from "../../scripts/lib/glue.mjs";
import { root } from "../../scripts/lib/project.mjs";

/** As wasm-bindgen writes it, with one of each kind. */
const GENERATED = `export class Thing {
    static __wrap(ptr) {
        const obj = Object.create(Thing.prototype);
        obj.__wbg_ptr = ptr;
        return obj;
    }
    __destroy_into_raw() {
        const ptr = this.__wbg_ptr;
        return ptr;
    }
    free() {
        const ptr = this.__destroy_into_raw();
        wasm.thing_free(ptr, 0);
    }
    look(first, id, second) {
        const ptr0 = passStringToWasm0(first, wasm.malloc, wasm.realloc);
        const len0 = WASM_VECTOR_LEN;
        const ptr1 = passStringToWasm0(second, wasm.malloc, wasm.realloc);
        const len1 = WASM_VECTOR_LEN;
        const ret = wasm.thing_look(this.__wbg_ptr, ptr0, len0, id, ptr1, len1);
        if (ret[2]) {
            throw takeFromExternrefTable0(ret[1]);
        }
        return ret[0] >>> 0;
    }
    stop(id) {
        const ret = wasm.thing_stop(this.__wbg_ptr, id);
        if (ret[1]) {
            throw takeFromExternrefTable0(ret[0]);
        }
    }
}
if (Symbol.dispose) Thing.prototype[Symbol.dispose] = Thing.prototype.free;
export function open() {
    const ret = wasm.open();
    return ret;
}
function __wbg_get_imports() {
    const import0 = {
        __proto__: null,
        length: function(arg0) {
            const ret = arg0.length;
            return ret;
        },
        parse: function() { return handleError(function (arg0) {
            const ret = JSON.parse(arg0);
            return ret;
        }, arguments); },
    };
    return { __proto__: null, "a": import0 };
}
const kept = [];
function addToExternrefTable0(obj) { return kept.push(obj) - 1; }
function takeFromExternrefTable0(idx) { return kept[idx]; }
function handleError(f, args) {
    try {
        return f.apply(this, args);
    } catch (e) {
        const idx = addToExternrefTable0(e);
        wasm.keep(idx);
    }
}
function passStringToWasm0(arg, malloc, realloc) {
    if (realloc === undefined) {
        return malloc(arg.length, 1);
    }
    WASM_VECTOR_LEN = arg.length;
    return malloc(arg.length, 1) >>> 0;
}
let WASM_VECTOR_LEN = 0;
let wasmModule, wasmInstance, wasm;
function __wbg_finalize_init(instance, module) {
    wasmInstance = instance;
    wasm = instance.exports;
    wasmModule = module;
    wasm.start();
    return wasm;
}
async function __wbg_load(module, imports) {
    return await WebAssembly.instantiate(module, imports);
}
function initSync(module) {
    return __wbg_finalize_init(new WebAssembly.Instance(module, __wbg_get_imports()), module);
}
async function __wbg_init(path) {
    if (path === undefined) path = new URL("thing.wasm", import.meta.url);
    return __wbg_finalize_init(await __wbg_load(fetch(path), __wbg_get_imports()));
}
export { initSync, __wbg_init as default };
`;

const load = (text) => import(`data:text/javascript,${encodeURIComponent(text)}`);

test("it loads nothing by itself, and calls the instance that it is given", async () => {
  const { adopt, imports, open, Thing, ...others } = await load(withoutLoading(GENERATED));
  assert.deepEqual(Object.keys(others), []);
  const calls = [];
  adopt({ exports: { start: () => calls.push("start"), open: () => 7, thing_free: (...given) => calls.push(given.join()) } });
  assert.equal(open(), 7);
  Thing.__wrap(5).free();
  assert.equal(imports().a.length("four"), 4);
  assert.deepEqual(calls, ["start", "5,0"]);
});

test("a form that it does not know stops the build, by what it is", () => {
  const unknown = (before, after, message) => {
    assert.ok(GENERATED.includes(before), before);
    assert.throws(() => withoutLoading(GENERATED.replace(before, after)), { message: new RegExp(`changed its form: .*${message}`) });
  };
  unknown("async function __wbg_load(", "async function __wbg_fetch(", "__wbg_load is missing");
  unknown("    wasm.start();\n", "", "takes its instance in another way");
  unknown("let wasmModule, wasmInstance, wasm;", "let wasmModule, wasm;", "takes its instance in another way");
  unknown("const kept = [];", "const kept = fetch(0);", "it uses fetch");
  unknown("const kept = [];", "const kept = [import.meta.url];", "it uses import.meta");
});

test("the glue that was built is all that the facade asks of it", () => {
  const glue = readFileSync(join(root, "dist/wasm/watchcache.js"), "utf8");
  const [, names] = /^import \{([^}]+)\} from "\.\.\/wasm\/watchcache\.js";$/m.exec(
    readFileSync(join(root, "dist/load/instance.js"), "utf8"),
  );
  const exported = new Set(
    [...glue.matchAll(/^export (?:class|function|const) (\w+)|__wbg_get_imports as (\w+)/gm)].map((found) => found[1] ?? found[2]),
  );
  const asked = [...names.matchAll(/(?:^|,) *(\w+)/g)].map(([, name]) => name);
  assert.deepEqual(
    asked.filter((name) => !exported.has(name)),
    [],
  );
  assert.doesNotMatch(glue, /import\.meta|\bfetch\(|\bWebAssembly\./);
});
