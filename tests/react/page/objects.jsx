import { flushSync } from "react-dom";
import { createWatchCache } from "watchcache";
import { useObject, useResource, useStatus, useView, WatchCacheProvider } from "watchcache/react";
import { later, mount, noting, open, settled, sleep, thing, things, until } from "./lib.jsx";

function One({ resource, id }) {
  const { object, last, deleted, loaded, stale, error } = useObject(resource, id);
  const what = object === undefined ? (deleted ? `gone, was ${last.spec.size}` : "none") : `size ${object.spec.size}`;
  return `${loaded ? "" : "loading "}${stale ? "stale " : ""}${what}${error ? ` (${error.code})` : ""}`;
}

/** Before it exists, while it is there, changed, gone, and there again. */
export async function objectsLife() {
  const { upstream, resource } = things({ count: 2 });
  const { text, render } = mount(<One resource={resource} id="even/thing-8" />);
  await until(() => text() === "none");
  upstream.put(thing(8));
  await until(() => text() === "size 8");
  upstream.put(thing(8, { spec: { size: 88 } }));
  await until(() => text() === "size 88");
  upstream.remove("even/thing-8");
  await until(() => text() === "gone, was 88");
  upstream.put(thing(8));
  await until(() => text() === "size 8");
  render(<One resource={resource} id="odd/thing-1" />);
  await until(() => text() === "size 1");
  render(<One resource={resource} id={null} />);
  await until(() => text() === "loading none");
  render(<One resource={undefined} id="odd/thing-1" />);
  await settled();
  return text();
}

/** What is asked of a server for one object. `server` is an embedded API server with pods. */
export async function objectsStream({ name, other }) {
  const asked = [];
  const noted = (input, init) => {
    asked.push(decodeURIComponent(String(input?.url ?? input)).replace(/^.*\/api\/v1\//, ""));
    return fetch(input, init);
  };
  const cache = createWatchCache({ fetch: noted, linger: 100, transport: "fetch" });
  later(() => cache.close());
  const Name = ({ id }) => useObject(useResource("pods"), id).object?.metadata.name ?? "none";
  const Total = () => {
    const { total, loaded } = useView(useResource("pods"), { window: { offset: 0, limit: 0 } });
    return loaded ? String(total) : "";
  };
  const page = (children) => <WatchCacheProvider cache={cache}>{children}</WatchCacheProvider>;
  const lists = () =>
    asked.filter((url) => !url.includes("watch=")).map((url) => url.replace(/[?&](limit|pretty|resourceVersion\w*)=[^&]*/g, ""));
  noting(() => JSON.stringify(cache.stats().resources.map(({ name, views, watchers, objects }) => ({ name, views, watchers, objects }))));
  const { text, render } = mount(page(<Name id={name} />));
  await until(() => text() === name.split("/")[1]);
  const alone = { lists: lists(), streams: open(cache) };

  // The table comes later: the detail keeps its stream.
  render(page([<Name key="name" id={name} />, <Total key="total" />]));
  await until(() => /\d$/.test(text()));
  // A second detail is rendered before the table in the tree, and uses its stream all the same.
  render(page(<Total key="total" />));
  await until(() => open(cache) === 1);
  const before = lists().length;
  render(page([<Name key="name" id={other} />, <Total key="total" />]));
  await until(() => text().startsWith(other.split("/")[1]));
  const beside = { lists: lists().length - before, streams: open(cache) };
  return { alone, beside };
}

export async function objectBesideNewTable({ name, isWarm, isLast, strict }) {
  const cache = createWatchCache({ transport: "fetch", linger: 100 });
  later(() => cache.close());
  // As behind a link of a page: what is opened then waits for no WebAssembly.
  if (isWarm) await cache.resource("nodes").list();
  await until(() => open(cache) === 0);
  const Name = ({ id }) => useObject(useResource("pods"), id).object?.metadata.name ?? "none";
  const Total = () => String(useView(useResource("pods"), { window: { offset: 0, limit: 0 } }).loaded);
  const parts = [<Name key="name" id={name} />, <Total key="total" />];
  // An application that is built has no StrictMode, which mounts all twice: the second time streams are open.
  const { text, render } = mount(null, { strict });
  // As behind a click: from the render to the last effect nothing else runs.
  flushSync(() => render(<WatchCacheProvider cache={cache}>{isLast ? parts.reverse() : parts}</WatchCacheProvider>));
  const shown = name.split("/")[1];
  await until(() => text() === (isLast ? `true${shown}` : `${shown}true`));
  return open(cache);
}

export async function objectRefused() {
  const { upstream, resource } = things({ count: 2 });
  upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
  const { text } = mount(<One resource={resource} id="even/thing-0" />);
  await until(() => text() === "loading none (forbidden)");
  upstream.recover();
  resource.resume();
  await until(() => text() === "size 0");
  upstream.fail({ code: 503, reason: "ServiceUnavailable", message: "later" });
  upstream.drop();
  await until(() => text() === "stale size 0");
  return text();
}

export async function statuses() {
  const { upstream, resource } = things({ count: 2 });
  const seen = [];
  function Status() {
    const { phase } = useStatus(resource);
    if (seen.at(-1) !== phase) seen.push(phase);
    return phase;
  }
  const { text, render } = mount(<Status />);
  await settled();
  const opened = upstream.streams;
  render([<Status key="status" />, <One key="one" resource={resource} id="even/thing-0" />]);
  await until(() => text() === "livesize 0");
  upstream.drop();
  await until(() => seen.includes("reconnecting"));
  await until(() => text() === "livesize 0");
  resource.close();
  await until(() => text().startsWith("closed"));
  await sleep(20);
  return { opened, seen };
}
