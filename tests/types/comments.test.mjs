// What an editor shows: every exported name of the declarations, and every member of it, says what it is.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ERROR_CODES } from "../../dist/error/errors.js";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** The declarations that an import of the entry brings. */
function reachable(entry) {
  const files = new Set();
  const visit = (file) => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, from] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)\.js"/g)) visit(join(dirname(file), `${from}.d.ts`));
  };
  visit(join(dist, entry));
  return [...files].map((file) => file.slice(dist.length));
}

/** The names that no comment stands before. */
function uncommented(text) {
  const found = [];
  const lines = text.split("\n");
  let inside;
  lines.forEach((line, at) => {
    const [, exported, name, opens] =
      /^(export )?(?:declare )?(?:const |abstract )*(?:interface|class|type|function|const) (\w+).*?(\{)?$/.exec(line) ?? [];
    if (name !== undefined) inside = opens && /\b(interface|class) /.test(line) && exported ? name : undefined;
    const [, member] = /^ {4}(?:readonly |static |get |set )*(\[?[\w.]+\]?|"[^"]+")[?]?[:(<]/.exec(line) ?? [];
    const subject = exported ? name : inside && member ? `${inside}.${member}` : undefined;
    // A constant and its type are one name; a comment on the constant is that of both.
    const twin = exported && /^export (declare )?type (\w+) = typeof \2;$/.test(line);
    if (subject !== undefined && !twin && !lines[at - 1]?.trimEnd().endsWith("*/")) found.push(subject);
    if (line === "}") inside = undefined;
  });
  return found;
}

for (const entry of ["index.d.ts", "inline.d.ts", "compat/client-node.d.ts", "compat/openshift/index.d.ts"]) {
  test(`every exported member of ${entry} has a comment`, () => {
    const files = reachable(entry).filter((file) => existsSync(join(dist, file)));
    assert.ok(files.length > 5, "the declarations were found");
    const missing = files.flatMap((file) => uncommented(readFileSync(join(dist, file), "utf8")).map((name) => `${file}: ${name}`));
    assert.deepEqual(missing, []);
  });
  test(`the declarations of ${entry} ask for no library`, () => {
    for (const file of reachable(entry)) assert.doesNotMatch(readFileSync(join(dist, file), "utf8"), /\/\/\/ <reference/, file);
  });
}

test("a comment that is missing is found", () => {
  const text = "/** A. */\nexport interface A {\n    /** b */\n    readonly b?: string;\n    c(d: string): void;\n}\nexport type E = 5;\n";
  assert.deepEqual(uncommented(text), ["A.c", "E"]);
});

test("each error code and each order of a view is explained", () => {
  const explained = (file, type, list) => {
    const [, comment, values] =
      new RegExp(`/\\*\\*((?:(?!\\*/).)*)\\*/\\s*${type}((?:[^;])*);`, "s").exec(readFileSync(join(dist, file), "utf8")) ?? [];
    assert.ok(comment, `${file} has ${type}`);
    const names = list ?? [...values.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
    assert.ok(names.length > 3);
    for (const name of names) assert.ok(comment.includes(`- \`${name}\``), `${type}: ${name}`);
  };
  explained("error/errors.d.ts", "export type WatchCacheErrorCode =", ERROR_CODES);
  explained("view/types.d.ts", "as\\?:");
});
