// `watchcache types`, run as its users run it: what it writes for a cluster, and what it says where it cannot.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { serveDocuments } from "./openapi.mjs";
import { bundler, compile, inFolder, nodeNext, strictest } from "./tsc.mjs";

const command = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Runs it. */
const run = (args, { env = {}, at = command } = {}) =>
  new Promise((resolve) => {
    const { WATCHCACHE_TOKEN: _, ...rest } = process.env;
    execFile(process.execPath, [at, ...args], { env: { ...rest, ...env } }, (error, out, told) =>
      resolve({ code: error?.code ?? 0, out, told }),
    );
  });

async function serving(options, use) {
  const server = await serveDocuments(options);
  try {
    return await use(server.url);
  } finally {
    await server.close();
  }
}

const USE = `
import { createWatchCache } from "watchcache";
import type { Mutable } from "watchcache";
import type { V1Pod } from "./kube.js";

const cache = createWatchCache();
const pods = cache.resource("pods");
const image: string | undefined = pods.peek("a/b")?.spec?.containers[0]?.name;
const policy: "Always" | "Never" | "OnFailure" | undefined = cache.resource("v1/pods").peek("a/b")?.spec?.restartPolicy;
const same: V1Pod | undefined = cache.resource<"pods", Mutable>("pods").peek("a/b");
const count: number | undefined = cache.resource("events").peek("a/b")?.count;
const note: string | undefined = cache.resource("events.k8s.io/v1/events").peek("a/b")?.note;
const widget = cache.resource("example.com/v1/widgets").peek("a")!;
const size: string | number | undefined = widget.spec?.size;
const nullable: string | null | undefined = widget.spec?.note;
const free: unknown = widget.spec?.free?.["whatever"];
const kebab: boolean | undefined = widget.spec?.["kebab-case"];
const time: string | undefined = widget.metadata?.creationTimestamp;
export const all = [image, policy, same, count, note, size, nullable, free, kebab, time];
// @ts-expect-error: what is read is shared
pods.peek("a/b")!.metadata!.finalizers!.push("c");
// @ts-expect-error: widgets have no nodes
widget.spec?.nodeName;
// @ts-expect-error: no such policy
void pods.create({ spec: { containers: [], restartPolicy: "Sometimes" } });
`;

test("what it writes compiles, and names every resource that can be listed, custom ones included", async () => {
  await serving({}, async (url) => {
    const { code, out, told } = await run(["types", "--server", url]);
    assert.equal(code, 0, told);
    assert.match(told, /^watchcache: 4 resources of http/);
    assert.doesNotMatch(out, /NeverUsed|PodList|ListMeta/);
    const names = [...out.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name).sort();
    assert.deepEqual(names, [
      ..."ClusterResources CoreV1Event EventsV1Event IntOrString Quantity V1Container V1ObjectMeta V1Pod V1PodSpec V1Time V1Widget".split(
        " ",
      ),
    ]);
    assert.match(out, /Standard object's metadata\./);
    assert.match(out, /Name must be unique within a namespace\./);
    await inFolder(async (folder) => {
      await writeFile(join(folder, "kube.d.ts"), out);
      await writeFile(join(folder, "use.ts"), USE);
      const files = ["kube.d.ts", "use.ts"].map((file) => join(folder, file));
      assert.equal(await compile({ ...nodeNext, ...strictest, lib: ["ES2022"], types: [] }, ...files), "");
      assert.equal(await compile({ ...bundler, ...strictest, lib: ["ES2022", "DOM"] }, ...files), "");
    });
    const bare = await run(["types", `--server=${url}/`, "--no-comments"]);
    assert.equal(bare.code, 0, bare.told);
    assert.doesNotMatch(bare.out, /Name must be unique/);
  });
});

test("the token is sent, from the option or from the environment", async () => {
  await serving({ token: "t" }, async (url) => {
    assert.equal((await run(["types", "--server", url, "--token", "t"])).code, 0);
    assert.equal((await run(["types", "--server", url], { env: { WATCHCACHE_TOKEN: "t" } })).code, 0);
    const { code, out, told } = await run(["types", "--server", url, "--token", "secret"]);
    assert.equal(code, 1);
    assert.equal(out, "", "no half of a file");
    assert.match(told, /answered 401: give a token, by --token or by the environment variable WATCHCACHE_TOKEN/);
    assert.doesNotMatch(told, /secret/);
  });
});

test("whatever goes wrong is told in a sentence with its remedy, and nothing is written", async () => {
  const refused = (refuse) => serving({ refuse }, (url) => run(["types", "--server", url]));
  const closed = await serving({}, async (url) => url);
  const cases = [
    [await refused({ status: 404 }), /answered 404: this server has no OpenAPI v3, which Kubernetes serves since 1\.24/],
    [await refused({ status: 403 }), /answered 403: .*system:discovery/],
    [await refused({ status: 200, type: "text/html", body: "<title>Sign in</title>" }), /answered no JSON: .* a page that asks to sign in/],
    [await refused({ status: 200, body: "{}" }), /is no index of OpenAPI documents/],
    [await refused({ status: 200, body: '{"paths":{}}' }), /names no resource/],
    [await run(["types", "--server", closed]), /cannot be reached: .*ECONNREFUSED/],
    [await run(["types", "--server", "nowhere"]), /--server is no URL: nowhere/],
    [await run(["types", "--server", "ftp://host"]), /a URL of http or https, not of ftp:/],
  ];
  for (const [{ code, out, told }, message] of cases) {
    assert.match(told, message);
    assert.equal(code, 1, told);
    assert.equal(out, "");
    assert.doesNotMatch(told, /\n +at /, "no stack");
  }
});

test("wrong arguments are told with how they go", async () => {
  for (const [args, message] of [
    [[], /a command is missing/],
    [["type"], /there is no command type/],
    [["types"], /--server is missing/],
    [["types", "--server"], /--server needs a value/],
    [["types", "--sever", "x"], /there is no option --sever/],
  ]) {
    const { code, out, told } = await run(args);
    assert.match(told, message);
    assert.match(told, /Usage: watchcache types --server URL/);
    assert.deepEqual([code, out], [2, ""]);
  }
  const { code, out } = await run(["--help"]);
  assert.equal(code, 0);
  assert.match(out, /Usage: watchcache types/);
});

test("without the generator it says what to install, before it asks any server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "watchcache-bin-"));
  try {
    await mkdir(join(folder, "cli"));
    await cp(join(command, ".."), join(folder, "cli"), { recursive: true });
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    const { code, told } = await run(["types", "--server", "http://127.0.0.1:9"], { at: join(folder, "cli", "main.js") });
    assert.equal(code, 1);
    assert.match(
      told,
      /^watchcache: the types are made by json-schema-to-typescript, .* npm install --save-dev json-schema-to-typescript\n$/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
