// What the hooks take and give.
import {
  createWatchCache,
  type KubeObject,
  type PartialObjectMetadata,
  type Resource,
  type ResourceStatus,
  type TableRow,
} from "watchcache";
import {
  type LiveObject,
  type LiveView,
  useCan,
  useDiscovery,
  useInformer,
  useObject,
  useResource,
  useStatus,
  useSuspenseView,
  useView,
  useWatch,
} from "watchcache/react";
import { same } from "./same.js";

interface Pod extends KubeObject {
  spec: { nodeName: string };
}

const cache = createWatchCache({ indexes: { node: "spec.nodeName" } });
const pods = cache.resource<Pod>("pods");

export function asked() {
  const { discovery, error, refresh } = useDiscovery({ cache });
  same<typeof refresh, () => void>();
  const deployments = useResource(discovery && { kind: "Deployment", namespace: "a" });
  const { allowed, reason } = useCan({ verb: "delete", resource: { kind: "Deployment" } });
  same<typeof allowed, boolean | undefined>();
  same<typeof reason, string | undefined>();
  useCan(null);
  // @ts-expect-error: a hook ends the wait by itself
  useCan({ verb: "get", path: "/metrics", signal: new AbortController().signal });
  const { rows } = useView(deployments, { selectedBy: deployments?.peek("a/b") ?? null });
  return { error: error?.code, rows };
}

/** What `cache.resource` takes, `useResource` takes. */
export function parts(namespace: string | undefined) {
  const table = useResource({ version: "v1", resource: "pods", as: "Table" });
  same<(typeof table.columns & {})[number]["name"], string>();
  const { rows } = useView(table);
  same<Readonly<Pick<(typeof rows)[number], "cells">>, { readonly cells: readonly unknown[] }>();
  const known = useResource({ kind: "Pod", as: "PartialObjectMetadata" });
  known satisfies Parameters<typeof useView<PartialObjectMetadata>>[0];
  const later = useResource(namespace === undefined ? null : { kind: "Pod", namespace, as: "Table" });
  later satisfies Resource<TableRow> | undefined;
  // @ts-expect-error: there is none where there is no spec
  later.synced;
  const source = { list: async () => ({ body: '{"metadata":{},"items":[]}' }) };
  const polled = useResource<Pod>({ source, id: "polled", poll: { everyMs: 1_000 } });
  // @ts-expect-error: what is watched has a watch
  useResource({ source, id: "watched" });
  return { cells: rows.flatMap(({ cells }) => cells), polled };
}

export function hooks(namespace: string | undefined) {
  const whole = useView(pods, { labelSelector: "app=web", where: ({ spec }) => spec.nodeName !== "" }, []);
  const node: string = whole.rows[0]!.spec.nodeName;
  // @ts-expect-error: rows are not the caller's to change
  whole.rows[0]!.spec.nodeName = node;
  // @ts-expect-error: nor is the array
  whole.rows.push(whole.rows[0]!);

  const selected = useView<{ node: string; ready?: boolean }>(pods, { select: { node: "spec.nodeName", ready: "status.ready" } });
  same<(typeof selected.rows)[number]["node"], string>();
  // @ts-expect-error: a row has the fields that were selected
  selected.rows[0]?.spec;
  // @ts-expect-error: each field has a path
  useView<{ node: string }>(pods, { select: {} });

  const derived = useView(pods, {
    derive: { size: { paths: ["spec.nodeName"], value: ([name = ""]: [string?]) => name.length } },
    select: { size: "size", phase: "status.phase" },
  });
  same<(typeof derived.rows)[number]["size"], number>();
  same<(typeof derived.rows)[number]["phase"], unknown>();

  // None yet, and the names of resources.
  const maybe = useResource<Pod>(namespace === undefined ? null : { version: "v1", resource: "pods", namespace });
  const none: LiveView<Pod> = useView(maybe);
  const suspended: LiveView<Pod> = useSuspenseView(pods);
  // @ts-expect-error: what suspends wants a resource
  useSuspenseView(maybe);

  const one: LiveObject<Pod> = useObject(pods, namespace);
  same<NonNullable<typeof one.object>["spec"]["nodeName"], string>();
  const status: ResourceStatus = useStatus(maybe);

  useWatch(pods, (event) => void (event.type === "ADDED" && event.object.spec.nodeName), { changesOf: ["spec"] });
  // @ts-expect-error: the hook has a signal of its own
  useWatch(pods, () => {}, { signal: new AbortController().signal });
  const { informer } = useInformer(
    pods,
    { onUpdate: (old, object) => void (old.spec.nodeName === object.spec.nodeName) },
    { indexers: { app: ({ spec }) => [spec.nodeName] } },
  );
  informer?.byIndex("app", "web");
  // @ts-expect-error: a view orders by paths
  useView(pods, { orderBy: ["metadata.name"] });
  return [whole, selected, derived, none, suspended, status];
}
