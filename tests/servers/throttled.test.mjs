/**
 * An apiserver that sheds load by its plain limit of requests in flight. It answers requests beyond the limit with 429 and a Retry-After,
 * in plain text. It counts lists, but no watches.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createWatchCache } from "watchcache";
import { Traffic, assertIntegrity, eventually } from "../e2e/cache.mjs";
import { Place } from "../e2e/target.mjs";
import { Api, concurrently } from "../e2e/wire.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

const RESOURCES = 20;
const PODS = 40;

describe("kube-apiserver with one request in flight", () => {
  /** @type {Awaited<ReturnType<typeof kubeApiServerTarget>>} */
  let target;
  let token = "";
  before(async () => {
    // Priority and fairness would queue the requests. Servers without it defend themselves in this way.
    target = await kubeApiServerTarget({ flags: ["--enable-priority-and-fairness=false", "--max-requests-inflight=1"] });
    // A user in system:masters is never shed, so the other user gets the rights without the group.
    const rbac = { group: "rbac.authorization.k8s.io" };
    const admin = new Api(target.url, target.token);
    const answer = await admin.request("POST", `/apis/${rbac.group}/v1/clusterrolebindings`, {
      body: {
        metadata: { name: "sheddable" },
        roleRef: { apiGroup: rbac.group, kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ apiGroup: rbac.group, kind: "User", name: "nobody" }],
      },
    });
    assert.equal(answer.status, 201, answer.text);
    token = String(target.powerless);
  });
  after(() => target?.stop());

  it("twenty resources wait as they are told, and each comes to be live and whole", async () => {
    const places = [];
    for (let i = 0; i < RESOURCES; i++) places.push(await Place.create(target));
    for (const place of places) await concurrently(PODS, (i) => place.create(`pod-${i}`));
    const traffic = new Traffic(target.url);
    /** What lists and gets were answered with. @type {number[]} */
    const answers = [];
    const cache = createWatchCache({
      server: target.url,
      auth: () => ({ token }),
      fetch: async (input, init) => {
        const answer = await traffic.fetch(input, init);
        answers.push(answer.status);
        return answer;
      },
      WebSocket: /** @type {any} */ (traffic.WebSocket),
      pageSize: 10,
      retry: { initialMs: 50, capMs: 500 },
    });
    // Somebody else keeps the one place busy.
    let busy = true;
    const other = new Api(target.url, token);
    const others = concurrently(6, async () => {
      while (busy) await other.request("GET", "/api/v1/pods");
    });
    try {
      const opened = places.map((place) => cache.resource({ version: "v1", resource: "pods", namespace: place.namespace }));
      /** The waits that were shown while the server refused. @type {number[]} */
      const waits = [];
      for (const pods of opened) {
        pods.addEventListener("status", () => {
          const { retryAt, error } = pods.status;
          if (retryAt !== undefined && error?.code === "too-many-requests") waits.push(retryAt - Date.now());
        });
      }
      // A view that is looked at keeps its stream.
      for (const pods of opened) pods.view().subscribe(() => {});
      await eventually(() => answers.filter((status) => status === 429).length >= 3 && waits.length >= 3, "refusals");
      assert.ok(
        waits.some((wait) => wait > 700),
        `the second that it asks for is waited: ${waits.slice(0, 10).join()}`,
      );
      busy = false;
      await others;
      await eventually(
        () => opened.every((pods) => pods.status.phase === "live" && pods.size === PODS),
        () => opened.map((pods) => `${pods.status.phase} ${pods.size}`).join(),
      );
      for (const [i, pods] of opened.entries()) await assertIntegrity(pods, places[i].aside().api, places[i].pods);
    } finally {
      busy = false;
      await others;
      await cache.close();
    }
  });
});
