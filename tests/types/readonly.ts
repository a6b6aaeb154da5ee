// What is read belongs to all readers: it is readonly deeply, unless `Mutable` asks for it as it is.
import { createWatchCache } from "watchcache";
import type { DeepReadonly, EventHandler, Informer, KubeObject, List, Mutable, Resource, View, Watcher, WatchEvent } from "watchcache";
import { same } from "./same.js";

interface Pod {
  metadata?: { name?: string; labels?: { [key: string]: string }; finalizers?: string[] };
  spec?: { containers: { name: string; args?: string[] }[]; range?: [number, number] };
}

const cache = createWatchCache();
const pods = cache.resource<Pod>("pods");
const shared = cache.resource<Pod, Mutable>("pods");
same<typeof pods, Resource<Pod, import("watchcache").Immutable, "namespace">>();
/** Code that takes mutable objects. */
declare function legacy(pod: Pod): void;
/** Code that takes what it is given. */
declare function modern(pod: DeepReadonly<Pod>): void;

export async function read(): Promise<void> {
  const pod = await pods.get("a/b");
  same<typeof pod, DeepReadonly<Pod>>();
  modern(pod);
  // @ts-expect-error: a field of it
  pod.metadata = {};
  // @ts-expect-error: a field of a field
  pod.metadata!.name = "c";
  // @ts-expect-error: a label
  pod.metadata!.labels!["app"] = "c";
  // @ts-expect-error: an array in it
  pod.metadata!.finalizers!.push("c");
  // @ts-expect-error: an element in an array in it
  pod.spec!.containers[0]!.args!.sort();
  // @ts-expect-error: a tuple in it
  pod.spec!.range![0] = 1;
  // @ts-expect-error: what might change it
  legacy(pod);
  const copy = structuredClone(pod) as Pod;
  copy.metadata!.finalizers!.push("c");
  // @ts-expect-error: peeked
  pods.peek("a/b")!.metadata = {};
  // @ts-expect-error: in an index
  pods.byIndex("namespace", "a")[0]!.metadata = {};
  const list: List<Pod> = await pods.list();
  // @ts-expect-error: an element of a list
  list.items[0]!.metadata = {};
  const view: View<Pod> = pods.view({ where: (row) => row.metadata?.name === "a" });
  // @ts-expect-error: a row
  view.getSnapshot().rows[0]!.metadata = {};
  // @ts-expect-error: in a filter
  pods.view({ where: (row) => ((row.metadata = {}), true) });
  const watcher: Watcher<Pod> = pods.watch();
  await watcher.forEach((event: WatchEvent<Pod>) => {
    // @ts-expect-error: the object of an event
    if (event.type === "ADDED") event.object.metadata = {};
  });
  const informer: Informer<Pod> = pods.informer();
  const handler: EventHandler<Pod> = {
    // @ts-expect-error: of a handler
    onAdd: (added) => (added.metadata = {}),
    onUpdate: (old, now) => [modern(old), modern(now)] as unknown as void,
    // @ts-expect-error: of a deletion
    onDelete: ({ object }) => (object!.metadata = {}),
  };
  informer.addEventHandler(handler);
  // @ts-expect-error: of a listener
  informer.addEventHandler(({ object }) => (object!.metadata = {}));
  // @ts-expect-error: of an informer's reads
  informer.list()[0]!.metadata = {};
}

export async function write(): Promise<void> {
  const updated = await pods.update("a/b", (current) => {
    current.metadata!.labels!["app"] = "c";
    current.spec!.containers.push({ name: "d" });
    return current;
  });
  modern(updated);
  // What was read is written again as it is, or in part.
  await pods.create({ ...updated, metadata: { name: "c" } });
  await pods.update("a/b", () => updated);
  pods.informer({
    transform: (pod) => {
      pod.metadata = {};
      return pod;
    },
  });
}

export async function optOut(): Promise<void> {
  const pod = await shared.get("a/b");
  same<typeof pod, Pod>();
  legacy(pod);
  shared.list().then(({ items }) => items.forEach(legacy));
  shared.view({ where: (row) => (legacy(row), true) }).rows.forEach(legacy);
  for await (const event of shared.watch()) if (event.type === "MODIFIED") legacy(event.object);
  shared.informer().addEventHandler({ onAdd: legacy, onUpdate: (old, now) => (legacy(old), legacy(now)) });
  shared.byIndex("namespace", "a").forEach(legacy);
}
// @ts-expect-error: there are two ways
cache.resource<Pod, "writable">("pods");

// ------------------------------------------------------------------------------------------------ kinds of types

interface Odd {
  any: any;
  unknown: unknown;
  date: Date;
  call(text: string): number[];
  map: Map<string, { list: number[] }>;
  set: Set<{ list: number[] }>;
  union: { kind: "a"; list: number[] } | { kind: "b" } | string | null;
  optional?: number[];
  bytes: Uint8Array;
  json: Json;
}
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
declare const odd: DeepReadonly<Odd>;
same<typeof odd.any, any>();
same<typeof odd.unknown, unknown>();
same<typeof odd.date, Date>();
same<typeof odd.call, (text: string) => number[]>();
same<typeof odd.map, ReadonlyMap<string, { readonly list: readonly number[] }>>();
same<typeof odd.bytes, Uint8Array>();
export const lists: readonly number[] | undefined = odd.optional;
for (const { list } of odd.set) same<typeof list, readonly number[]>();
if (odd.union !== null && typeof odd.union !== "string" && odd.union.kind === "a") same<typeof odd.union.list, readonly number[]>();
// @ts-expect-error: JSON of any depth
if (odd.json instanceof Array) odd.json.push(1);
same<DeepReadonly<any>, any>();
same<DeepReadonly<unknown>, unknown>();

// A helper that is generic, or asks for less, takes what there is.
export function names<T extends KubeObject>(resource: Resource<T>): readonly (string | undefined)[] {
  return resource.byIndex("namespace", "a").map((object) => (object as DeepReadonly<KubeObject>).metadata?.name);
}
declare function any(resource: Resource<KubeObject>): void;
declare const deployments: Resource<KubeObject & { spec?: { replicas?: number } }>;
any(deployments);
names(deployments);
