// The peers of the row `consoles`, in a folder of their own. Their React is another than the repository's, and nobody installs them who does not
// measure them.
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { build } from "vite";
import { hashOf } from "../../scripts/lib/hash.mjs";
import { root } from "../../scripts/lib/project.mjs";
import { must } from "../../scripts/lib/run.mjs";

const HERE = "benches/consoles";
const WORK = join(root, "artifacts/consoles");
const MODULES = join(WORK, "node_modules");
const GIVEN = join(root, HERE, "page/given");

/**
 * Headlamp's package is all of its frontend, with the tools that build plugins: it depends on some 1,500 packages. What its `useList` imports is in
 * package.json; the package itself is taken alone.
 */
const HEADLAMP = {
  name: "@kinvolk/headlamp-plugin",
  version: "0.14.0",
  integrity: "sha512-oVIqpSzf2zZfZG44gwrGI8xTLImCIKupUJ26k7ZhVrFSUBY9Ga+R66tfCdN4Q/ShYha/8J+qlpy5ac9PjRq2KA==",
};

/** What `useList` imports and does not call: it is only there for links and for the page around the table. */
const HEADLAMP_GIVEN = {
  "lib/router/createRouteURL.js": "headlamp-router.js",
  "lib/k8s/index.js": "headlamp-k8s.js",
  "components/App/AppLogo.js": "headlamp-logo.js",
};

/** What a console gives to its plugins. */
const OPENSHIFT_GIVEN = {
  "@console/shared/src/utils/console-fetch": "openshift-fetch.js",
  "@console/internal/models": "openshift-models.js",
};

async function installHeadlamp() {
  const { name, version, integrity } = HEADLAMP;
  await must("npm", ["pack", `${name}@${version}`, "--prefer-offline"], { quiet: true, cwd: WORK });
  const filename = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
  const found = `sha512-${createHash("sha512")
    .update(readFileSync(join(WORK, filename)))
    .digest("base64")}`;
  if (found !== integrity) throw new Error(`${name}@${version} is not the package that was measured: ${found}`);
  const folder = join(MODULES, name);
  mkdirSync(folder, { recursive: true });
  await must("tar", ["-xzf", filename, "-C", folder, "--strip-components=1"], { quiet: true, cwd: WORK });
}

/** What was installed for the same lock file stays from run to run. */
export async function installConsoles() {
  const kept = join(MODULES, ".watchcache-lock");
  const hash = hashOf([`${HERE}/package-lock.json`, `${HERE}/install.mjs`]);
  if (existsSync(kept) && readFileSync(kept, "utf8") === hash) return;
  rmSync(WORK, { recursive: true, force: true });
  mkdirSync(WORK, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(root, HERE, name), join(WORK, name));
  // Not `npm ci`, which fails where a registry lacks what only other systems need. The lock file rules in both. A row that Vite has built before has
  // left NODE_ENV at "production", for which npm would install nothing.
  await must("npm", ["install", "--include=dev", "--no-save", "--prefer-offline"], { quiet: true, cwd: WORK });
  await installHeadlamp();
  writeFileSync(kept, hash);
}

/** Who imports a package by its name gets the installed one, wherever the importer lies: one React for all. */
function fromConsoles() {
  return {
    name: "from-consoles",
    enforce: "pre",
    async resolveId(source, importer, options) {
      if (source in OPENSHIFT_GIVEN) return join(GIVEN, OPENSHIFT_GIVEN[source]);
      if (/^[./\0]/.test(source) || isBuiltin(source) || importer === undefined) return undefined;
      if (importer.startsWith(MODULES) || importer.startsWith("\0")) return undefined;
      return this.resolve(source, join(WORK, "index.js"), { ...options, skipSelf: true });
    },
  };
}

function headlampAlone() {
  return {
    name: "headlamp-alone",
    enforce: "pre",
    async resolveId(source, importer, options) {
      if (!importer?.includes(`/${HEADLAMP.name}/`) || !source.startsWith(".")) return undefined;
      const found = await this.resolve(source, importer, { ...options, skipSelf: true });
      const given = Object.keys(HEADLAMP_GIVEN).find((end) => found?.id.endsWith(`${HEADLAMP.name}/lib/${end}`));
      return given ? join(GIVEN, HEADLAMP_GIVEN[given]) : found;
    },
  };
}

/** @returns {Promise<string>} the folder to serve */
export async function bundleConsoles() {
  const folder = join(root, "artifacts/consoles-page");
  const dist = (entry) => join(root, "dist", entry);
  await build({
    root: join(root, HERE, "page"),
    configFile: false,
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [headlampAlone(), fromConsoles()],
    resolve: {
      alias: {
        "watchcache/react": dist("react/index.js"),
        watchcache: dist("index.js"),
        // One React for all.
        "react-dom": join(MODULES, "react-dom"),
        react: join(MODULES, "react"),
      },
    },
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 10_000,
      // The reducer's package imports the default of an older redux-thunk, for a store that nobody makes here.
      rolldownOptions: { shimMissingExports: true },
    },
  });
  return folder;
}
