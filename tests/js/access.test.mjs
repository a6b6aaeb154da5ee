// May I? What the server answers to `cache.can`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL, coded, group, resource, serving, version } from "./lib/discovery.mjs";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const review = (status) => ({ kind: "SelfSubjectAccessReview", apiVersion: "authorization.k8s.io/v1", status });

test("may I: the question is what the API wants, and its answer is kept", async (t) => {
  let user = "jane";
  const answers = (path, _request, { body }) =>
    ALL[path] ?? (path === REVIEWS && review({ allowed: body.spec.resourceAttributes?.verb !== "delete", reason: "because" }));
  const { cache, asked } = await serving(t, answers, { auth: () => ({ headers: { "impersonate-user": user } }) });
  const question = { verb: "list", resource: "pods", namespace: "web" };
  const [one, two] = await Promise.all([cache.can(question), cache.can({ ...question })]);
  assert.deepEqual(one, { allowed: true, reason: "because" });
  assert.equal(one, two);
  assert.ok(Object.isFrozen(one));
  assert.deepEqual(await cache.can({ verb: "delete", resource: "apps/v1/deployments", name: "a", subresource: "scale" }), {
    allowed: false,
    reason: "because",
  });
  await cache.discover();
  await cache.can({ verb: "get", resource: "deploy" });
  await cache.can({ verb: "get", resource: { kind: "Deployment" } });
  await cache.can({ verb: "get", resource: { group: "x", version: "v1", resource: "ys" } });
  await cache.can({ verb: "*", resource: "*" });
  await cache.can({ verb: "get", path: "/metrics" });
  const posted = () => asked.filter(({ path }) => path === REVIEWS);
  assert.deepEqual(
    posted().map(({ body }) => body.spec),
    [
      { resourceAttributes: { verb: "list", group: "", version: "v1", resource: "pods", namespace: "web" } },
      { resourceAttributes: { verb: "delete", group: "apps", version: "v1", resource: "deployments", name: "a", subresource: "scale" } },
      { resourceAttributes: { verb: "get", group: "apps", version: "v1", resource: "deployments" } },
      { resourceAttributes: { verb: "get", group: "x", version: "v1", resource: "ys" } },
      { resourceAttributes: { verb: "*", group: "*", resource: "*" } },
      { nonResourceAttributes: { path: "/metrics", verb: "get" } },
    ],
  );
  await cache.can(question);
  assert.equal(posted().length, 6);
  user = "joe";
  await cache.can(question);
  assert.equal(posted().length, 7, "another user is another answer");
});

test("may I: bad questions and bad answers each have their code", async (t) => {
  let answer = { code: 404, raw: "404 page not found" };
  const { cache, asked } = await serving(t, () => answer);
  for (const [question, message] of [
    [{}, /verb is missing/],
    [{ verb: "list" }, /about a resource, or about a path/],
    [{ verb: "list", resource: "pods", path: "/x" }, /about a resource, or about a path/],
    [{ verb: "get", path: "/x", namespace: "web" }, /a path has no namespace/],
    [{ verb: "get", path: "x" }, /begins with/],
    [{ verb: 7, resource: "pods" }, /verb is text/],
    [{ verb: "list", resource: 7 }, /resource is a resource/],
    [{ verb: "list", resource: {} }, /resource\.resource is missing/],
    [{ verb: "list", resource: "deploy" }, /discover\(\) first/],
    [{ verb: "list", resource: "pods", namespaces: "x" }, /did you mean namespace/],
  ])
    await assert.rejects(cache.can(question), coded("invalid", message), JSON.stringify(question));
  assert.deepEqual(asked, []);
  const ask = () => cache.can({ verb: "list", resource: "pods" });
  for (const code of [404, 405]) {
    answer = { code, raw: "" };
    for (const one of await Promise.allSettled([ask(), ask(), ask()])) coded("not-found", /answers no SelfSubjectAccessReview/)(one.reason);
  }
  assert.equal(asked.length, 2, "who asks the same at once shares the answer");
  answer = review({ allowed: "yes" });
  await assert.rejects(ask(), coded("protocol", /no answered SelfSubjectAccessReview/));
  answer = { code: 503, raw: "" };
  await assert.rejects(ask(), coded("unavailable", /HTTP 503/));
  answer = review({ allowed: false, evaluationError: "a webhook is away" });
  assert.deepEqual(await ask(), { allowed: false, reason: "a webhook is away" }, "a failure is not kept");
  await cache.close();
  await assert.rejects(ask(), coded("closed", /closed/));
});
