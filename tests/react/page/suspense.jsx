import { startTransition, Suspense, useState } from "react";
import { useSuspenseView } from "watchcache/react";
import { Boundary, history, mount, open, settled, sleep, thing, things, until, views } from "./lib.jsx";

const size = [{ path: "spec.size", as: "number" }];

function Rows({ resource, spec, deps }) {
  const { rows, loaded, error } = useSuspenseView(resource, { orderBy: size, ...spec }, deps);
  return `${loaded} ${rows.map(({ spec }) => spec.size).join(" ")}${error ? ` (${error.code})` : ""}`;
}

const page = (children) => (
  <Boundary>
    <Suspense fallback="waiting">{children}</Suspense>
  </Boundary>
);

export async function suspends() {
  const { upstream, cache, resource } = things({ count: 4 });
  let choose;
  function Chosen() {
    const [labelSelector, set] = useState();
    choose = set;
    return <Rows resource={resource} spec={{ labelSelector }} />;
  }
  const { text, container } = mount(page(<Chosen />));
  const seen = history(container);
  await until(() => text() === "true 0 1 2 3");
  upstream.put(thing(4));
  await until(() => text() === "true 0 1 2 3 4");
  startTransition(() => choose("app=web"));
  await until(() => text() === "true 1 2 4");
  startTransition(() => choose("app in ("));
  await until(() => text() === "true 1 2 4 (invalid)");
  upstream.put(thing(5));
  await until(() => text() === "true 1 2 4 5 (invalid)");
  choose("app=db");
  await until(() => text() === "true 0 3");
  return { seen, views: views(cache) };
}

export async function suspendsRefused() {
  const { upstream, resource } = things({ count: 2 });
  upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
  const { text, container } = mount(page(<Rows resource={resource} />));
  await until(() => text().startsWith("caught forbidden"));
  upstream.recover();
  resource.resume();
  await until(() => resource.status.phase === "live");
  container.querySelector("button").click();
  await until(() => text() === "true 0 1");
  upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
  upstream.drop();
  await until(() => text() === "true 0 1 (forbidden)");
  const spec = mount(page(<Rows resource={resource} spec={{ labelSelector: "app in (" }} />));
  await until(() => spec.text().startsWith("caught invalid"));
  return text();
}

/** A component that is gone while it waits lets go of what it waited for. */
export async function suspendsAbandoned() {
  const { upstream, cache, resource } = things({ count: 2 });
  upstream.delay = 60_000;
  const { render, text } = mount(page(<Rows resource={resource} />));
  await until(() => upstream.requests.length === 1);
  render(page("elsewhere"));
  await until(() => text() === "elsewhere");
  await until(() => open(cache) === 0 && views(cache) === 0, 10_000);
  return "let go";
}

/** A server that is slow: what waits goes on waiting, longer than one hold. */
export async function suspendsLong() {
  const { upstream, resource } = things({ count: 2 });
  upstream.delay = 7_000;
  const { text, container } = mount(page(<Rows resource={resource} />));
  const seen = history(container);
  await until(() => text() === "true 0 1", 20_000);
  return { seen, lists: upstream.asked("list").length };
}

export async function suspendsRestless() {
  const { resource } = things({ count: 2 });
  resource.view();
  const Inline = ({ deps }) => <Rows resource={resource} spec={{ where: ({ spec }) => spec.size > 0 }} deps={deps} />;
  const { text } = mount(page(<Inline />));
  await until(() => text().startsWith("caught") || text().startsWith("true"));
  await settled();
  await sleep(50);
  return text();
}
