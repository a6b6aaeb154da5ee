// The original with its peers, in a folder of its own: its React is another than the repository's, and `npm ci` stays small without it.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { build, preview } from "vite";
import { hashOf } from "../../../scripts/lib/hash.mjs";
import { root } from "../../../scripts/lib/project.mjs";
import { must } from "../../../scripts/lib/run.mjs";

const HERE = "tests/compat/openshift";
const WORK = join(root, "artifacts/compat-openshift");

/** What the original requires of a console, and what of it this page has. */
const GIVEN_BY_CONSOLES = {
  "@console/shared/src/utils/console-fetch": join(WORK, "console-fetch.js"),
  "@console/internal/models": join(WORK, "models.js"),
};

/** What npm installed for the same lock file stays from run to run. */
async function install() {
  const lock = `${HERE}/package-lock.json`;
  const kept = join(WORK, "node_modules/.watchcache-lock");
  const hash = hashOf([lock]);
  if (existsSync(kept) && readFileSync(kept, "utf8") === hash) return;
  rmSync(WORK, { recursive: true, force: true });
  mkdirSync(WORK, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(root, HERE, name), join(WORK, name));
  // Not `npm ci`, which fails where a registry lacks what only other systems need. The lock file rules in both.
  await must("npm", ["install", "--include=dev", "--no-save", "--prefer-offline"], { quiet: true, cwd: WORK });
  writeFileSync(kept, hash);
}

/** What the guide's page imports of the original. Its published index asks for the whole of a console. */
const ORIGINAL = `export { useK8sWatchResource } from "@openshift-console/dynamic-plugin-sdk/lib/utils/k8s/hooks/index.js";
export { k8sPatchResource as k8sPatch } from "@openshift-console/dynamic-plugin-sdk/lib/utils/k8s/k8s-resource.js";
`;

/** The page of the guide as it stands there, and once more with the original's import. */
function writeGuide() {
  const guide = readFileSync(join(root, "docs/moving-over/openshift.md"), "utf8");
  const [, name, text] = guide.match(/^```jsx file=(\S+)\n(.*?)^```$/ms);
  for (const folder of ["ours", "original"]) mkdirSync(join(WORK, "guide", folder), { recursive: true });
  writeFileSync(join(WORK, "guide/ours", name), text);
  writeFileSync(join(WORK, "guide/original/sdk.js"), ORIGINAL);
  writeFileSync(join(WORK, "guide/original", name), text.replace('"watchcache/compat/openshift"', '"./sdk.js"'));
}

/**
 * Builds the page with both, and serves it as a console does: its own origin forwards the API, WebSockets too.
 * @param {Record<string, string>} clusters servers by what stands behind /api/
 */
export async function servePage(clusters) {
  await install();
  cpSync(join(root, HERE, "page"), WORK, { recursive: true });
  writeGuide();
  const of = (name) => join(WORK, "node_modules", name);
  await build({
    configFile: false,
    root: WORK,
    mode: "development",
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"development"' },
    plugins: [react()],
    resolve: {
      alias: {
        ...GIVEN_BY_CONSOLES,
        "watchcache/react": join(root, "dist/react/index.js"),
        "watchcache/compat/openshift": join(root, "dist/compat/openshift/index.js"),
        watchcache: join(root, "dist/index.js"),
        // One React for both.
        "react-dom": of("react-dom"),
        react: of("react"),
      },
    },
    build: {
      outDir: join(WORK, "dist"),
      emptyOutDir: true,
      minify: false,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 4_096,
      // The reducer's package imports the default of an older redux-thunk, for a store that nobody makes here.
      rolldownOptions: { shimMissingExports: true },
    },
  });
  const proxy = Object.fromEntries(
    Object.entries(clusters).map(([name, target]) => {
      const prefix = `/api/${name}`;
      return [prefix, { target, ws: true, rewrite: (path) => path.slice(prefix.length) }];
    }),
  );
  const served = await preview({
    configFile: false,
    root: WORK,
    logLevel: "silent",
    build: { outDir: join(WORK, "dist") },
    preview: { host: "127.0.0.1", port: 0, proxy },
  });
  return { url: served.resolvedUrls.local[0], close: () => served.close() };
}
