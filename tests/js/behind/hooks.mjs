// What the tests of tests/js import instead, while their caches are behind a worker.
const here = new URL("./", import.meta.url).href;
const tests = new URL("../", import.meta.url).href;

const INSTEAD = { watchcache: `${here}package.mjs`, "node:test": `${here}runner.mjs` };

export async function resolve(specifier, context, next) {
  const parent = context.parentURL ?? "";
  const isOurs = parent.startsWith(tests) && !parent.startsWith(here);
  const instead = isOurs ? INSTEAD[specifier] : undefined;
  return next(instead ?? specifier, context);
}
