import { startTransition, Suspense, useState } from "react";
import { useInformer, useWatch } from "watchcache/react";
import { Boundary, mount, noting, settled, sleep, thing, things, until } from "./lib.jsx";

const named = ({ type, key }) => `${type} ${key.split("-")[1] ?? ""}`.trim();

export async function watchesNewest() {
  const { upstream, cache, resource } = things({ count: 2 });
  const heard = [];
  const Watching = ({ word }) => void useWatch(resource, (event) => heard.push(`${word} ${named(event)}`), { labelSelector: "app=web" });
  const { render, unmount } = mount(<Watching word="a" />);
  await until(() => heard.length === 1);
  render(<Watching word="b" />);
  await settled();
  upstream.put(thing(4));
  await until(() => heard.length === 2);
  const { watchers } = cache.stats().resources[0];
  unmount();
  await until(() => cache.stats().resources.every(({ watchers }) => watchers === 0));
  upstream.put(thing(5));
  await sleep(50);
  return { heard, watchers };
}

/** A render that never comes onto the screen leaves no handler behind. */
export async function watchesDiscarded() {
  const { upstream, resource } = things({ count: 1 });
  const heard = [];
  const never = new Promise(() => {});
  let set;
  function Watching() {
    const [word, setWord] = useState("a");
    set = setWord;
    useWatch(resource, (event) => heard.push(`${word} ${named(event)}`));
    if (word === "discarded") throw never;
    return word;
  }
  mount(
    <Suspense fallback="waiting">
      <Watching />
    </Suspense>,
  );
  await until(() => heard.length === 1);
  startTransition(() => set("discarded"));
  await sleep(50);
  upstream.put(thing(2));
  await until(() => heard.length === 2);
  return heard;
}

export async function watchesOn() {
  const { upstream, resource } = things({ count: 2, options: { retry: { initialMs: 10, jitter: 0 } } });
  const heard = [];
  let state;
  const Watching = ({ options }) => {
    state = useWatch(resource, (event) => void heard.push(named(event)), options);
    return null;
  };
  noting(() => heard.join());
  const { render } = mount(<Watching />, { strict: false });
  await until(() => heard.length === 2);
  upstream.drop();
  upstream.put(thing(2));
  await until(() => heard.length === 3);
  // A relist: what vanished meanwhile is told as well.
  const relisted = upstream.asked("list").length;
  upstream.delay = 50;
  upstream.drop();
  upstream.remove("even/thing-0");
  upstream.expire();
  await until(() => upstream.asked("list").length > relisted);
  await until(() => heard.includes("DELETED 0"));
  upstream.delay = 0;
  const first = heard.splice(0);

  // Told to end at a relist, it goes on from its version, or anew.
  render(<Watching options={{ onOverflow: "terminate" }} />);
  await until(() => heard.length === 2);
  heard.splice(0);
  upstream.drop();
  upstream.expire();
  upstream.put(thing(6));
  await until(() => heard.includes("ADDED 6"));
  const second = heard.splice(0);

  // A version that is gone: everything anew, once.
  render(<Watching options={{ resourceVersion: "1" }} />);
  await until(() => heard.includes("ADDED 6"));
  await sleep(100);
  const third = heard.splice(0);

  render(<Watching options={{ labelSelectr: "app=web" }} />);
  await until(() => state.error?.code === "invalid");
  await sleep(50);
  return { first, second, third, refused: state.error.message, after: heard };
}

export async function watchesRefused() {
  const { upstream, resource } = things({ count: 2 });
  upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
  const heard = [];
  const states = [];
  const Watching = () => {
    const { error } = useWatch(resource, (event) => void heard.push(named(event)));
    if (states.at(-1) !== error?.code) states.push(error?.code);
  };
  mount(<Watching />);
  await until(() => states.includes("forbidden"));
  await sleep(100);
  const asked = upstream.requests.length;
  upstream.recover();
  resource.resume();
  await until(() => heard.length === 2);
  await settled();
  return { asked, states };
}

export async function informers() {
  const { upstream, cache, resource } = things({ count: 3 });
  const heard = [];
  const byApp = { app: ({ metadata }) => [metadata.labels.app] };
  let state;
  function Following({ word, indexers = byApp }) {
    state = useInformer(
      resource,
      {
        onAdd: ({ spec }, initial) => void heard.push(`${word} add ${spec.size}${initial ? " at first" : ""}`),
        onDelete: ({ key }) => void heard.push(`${word} delete ${key}`),
      },
      { indexers, handler: { labelSelector: "app=web" } },
    );
    return String(state.synced);
  }
  const { text, render, unmount } = mount(<Following word="a" />);
  await until(() => text() === "true");
  const dbs = state.informer.byIndex("app", "db").length;
  render(<Following word="b" />);
  await settled();
  upstream.put(thing(4));
  upstream.remove("odd/thing-1");
  await until(() => heard.length === 4);
  const { informers, handlers } = cache.stats().resources[0];
  render(<Following word="b" indexers={{ "": 3 }} />);
  await until(() => state.error?.code === "invalid");
  unmount();
  await until(() => cache.stats().resources.every(({ informers }) => informers === 0));
  return { heard, dbs, informers, handlers };
}

export async function handlerThatIsNone() {
  const { resource } = things({ count: 1 });
  const Watching = () => void useWatch(resource, { onAdd() {} });
  const { text } = mount(
    <Boundary>
      <Watching />
    </Boundary>,
  );
  await settled();
  return text();
}
