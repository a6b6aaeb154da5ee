/**
 * `watchcache types` over the OpenAPI documents of the real kube-apiserver, with a custom resource. The types that it writes compile, and
 * describe the objects of that very server.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Api } from "../e2e/wire.mjs";
import { bundler, compile, inFolder, nodeNext, strictest } from "../types/tsc.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

const command = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const PATIENCE = 60_000;
const GROUP = "example.com";

const DEFINITION = {
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer" },
                  port: { "x-kubernetes-int-or-string": true },
                  note: { type: "string", nullable: true },
                  tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const USE = `
import { createWatchCache } from "watchcache";
import type { DeepReadonly } from "watchcache";
import type { ClusterResources, V1Deployment, V1ObjectMeta, V1Pod } from "./kube.js";

const cache = createWatchCache();
const pod = cache.resource("pods").peek("a/b")!;
export const node: string | undefined = pod.spec?.nodeName;
export const image: string | undefined = pod.spec?.containers[0]?.image;
export const port: string | number | undefined = pod.spec?.containers[0]?.livenessProbe?.httpGet?.port;
export const created: string | undefined = pod.metadata?.creationTimestamp;
export const deployment: DeepReadonly<V1Deployment> | undefined = cache.resource("apps/v1/deployments").peek("a/b");
export const quantity: string | number | undefined = pod.spec?.containers[0]?.resources?.limits?.["cpu"];
const widget = cache.resource("example.com/v1/widgets").peek("a/w")!;
export const size: number | undefined = widget.spec?.size;
export const either: string | number | undefined = widget.spec?.port;
export const note: string | null | undefined = widget.spec?.note;
export const tag: "a" | "b" | undefined = widget.spec?.tags?.[0];
export const free: unknown = widget.spec?.free?.["x"];
export const schema = cache.resource("apiextensions.k8s.io/v1/customresourcedefinitions").peek("w")?.spec.versions[0]?.schema?.openAPIV3Schema;
export const nested: string | undefined = schema?.properties?.["a"]?.properties?.["b"]?.description;
export type Events = [ClusterResources["events"]["count"], ClusterResources["events.k8s.io/v1/events"]["note"]];
export const meta: V1ObjectMeta = {};
export const made: V1Pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c" }] } };
// @ts-expect-error: what is read is shared
pod.spec!.containers.push({ name: "c" });
// @ts-expect-error: pods have no size
void pod.spec?.size;
`;

describe("watchcache types and kube-apiserver", () => {
  /** @type {Awaited<ReturnType<typeof kubeApiServerTarget>>} */
  let target;
  /** @type {Api} */
  let admin;
  before(async () => {
    target = await kubeApiServerTarget();
    admin = new Api(target.url, target.token);
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const answer = await admin.request("POST", path, { body: DEFINITION });
    assert.equal(answer.status, 201, answer.text);
    // The server publishes a definition a while after it has it.
    for (const deadline = Date.now() + PATIENCE; ; await sleep(100)) {
      const { status, text } = await admin.request("GET", `/openapi/v3/apis/${GROUP}/v1`);
      if (status === 200 && text.includes("WidgetList")) break;
      assert.ok(Date.now() < deadline, "waited in vain for the custom resource to be published");
    }
  });
  after(() => target?.stop());

  const run = (token) =>
    promisify(execFile)(process.execPath, [command, "types", "--server", target.url, "--token", token], { maxBuffer: 64 * 1024 * 1024 });

  it("what it writes compiles, and knows pods, deployments and the custom resource", async () => {
    const { stdout, stderr } = await run(target.token);
    const [, count] = /^watchcache: (\d+) resources/.exec(stderr) ?? [];
    // A server of this kind has some sixty, whatever its version.
    assert.ok(Number(count) > 40, stderr);
    await inFolder(async (folder) => {
      await writeFile(join(folder, "kube.d.ts"), stdout);
      await writeFile(join(folder, "use.ts"), USE);
      const files = ["kube.d.ts", "use.ts"].map((file) => join(folder, file));
      assert.equal(await compile({ ...nodeNext, ...strictest, lib: ["ES2022"], types: [] }, ...files), "");
      assert.equal(await compile({ ...bundler, lib: ["ES2022", "DOM"] }, ...files), "");
      assert.equal(await readFile(files[0], "utf8"), stdout);
    });
  });

  it("is written alike each time", async () => {
    assert.equal((await run(target.token)).stdout, (await run(target.token)).stdout);
  });

  it("a user without rights of its own may, and one who is unknown may not", async () => {
    assert.match((await run(target.powerless)).stdout, /interface V1Pod /);
    await assert.rejects(run("of-nobody"), (error) => {
      assert.match(/** @type {any} */ (error).stderr, /answered 401: give a token/);
      return true;
    });
  });
});
