// The page of printing.test.mjs: prints one of each.
import { createWatchCache } from "/dist/index.js";
import { memorySource } from "/dist/memory/index.js";
import { pod } from "/tests/js/lib/pod.mjs";

async function print() {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const cache = createWatchCache({ flush: "microtask" });
  const resource = cache.resource({ source: upstream, id: "pods" });
  await resource.synced();
  const list = await resource.list();
  const events = [];
  const watcher = resource.watch();
  void watcher.forEach((event) => void events.push(event));
  const notifications = [];
  let deletion;
  const informer = resource.informer();
  const registration = informer.addEventHandler((event) => void notifications.push(event));
  informer.addEventHandler({ onDelete: (deleted) => void (deletion = deleted) });
  await registration.synced;
  upstream.remove("a/y");
  while (deletion === undefined || events.length < 2) await new Promise((resolve) => setTimeout(resolve));
  console.log("list", list);
  console.log("items", list.items);
  console.log("resource", resource);
  console.log("cache", cache);
  console.log("watcher", watcher);
  console.log("informer", informer);
  console.log("registration", registration);
  console.log("event", events[0]);
  console.log("notification", notifications[0]);
  console.log("deletion", deletion);
  console.log("texts", String(events[0]), `${notifications[0]}`, `${deletion}`);
  console.log("event that was read", events[0]);
  return { decoded: cache.stats().resources[0].decoded };
}

globalThis.ready = print();
