// The page of `npm start -- --etcd`: it asks the members of the cluster itself.
import { createWatchCache } from "watchcache";
import { etcdSource } from "watchcache/etcd";

const { endpoints, prefix } = await (await fetch("/settings")).json();
const cache = createWatchCache();
const keys = cache.resource({ source: etcdSource({ endpoints, prefix, heartbeatMs: 1_000, timeoutMs: 2_000 }), id: "keys" });

const find = (selector) => document.querySelector(selector);
const options = {
  orderBy: [{ path: "metadata.namespace" }, { path: "metadata.name", as: "natural" }],
  window: { offset: 0, limit: 25 },
};
let view;
let stop = () => {};

function cell(text, as = "td") {
  const made = document.createElement(as);
  made.textContent = text;
  return made;
}

function show() {
  const { rows, total } = view.getSnapshot();
  find("#summary").textContent = `${total} of ${keys.size} keys below ${prefix}, at revision ${keys.resourceVersion ?? "…"}`;
  find("tbody").replaceChildren(
    ...rows.map(({ metadata, value, valueBase64 }) => {
      const row = document.createElement("tr");
      const json = document.createElement("td");
      json.append(cell(valueBase64 ?? JSON.stringify(value), "code"));
      const key = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
      row.append(cell(key), cell(metadata.resourceVersion), cell(metadata.uid), json);
      return row;
    }),
  );
}

function open(search) {
  stop();
  view = keys.view({ ...options, ...(search && { search }) });
  stop = view.subscribe(show);
  show();
}

function status() {
  const { phase, error } = keys.status;
  find("#phase").textContent = error === undefined ? phase : `${phase}: ${error.message}`;
  find("#phase").dataset.phase = phase;
}

keys.addEventListener("status", status);
find("#search").addEventListener("input", ({ target }) => open(target.value));
find("#kill").addEventListener("click", () => void fetch("/kill", { method: "POST" }));
find("#touch").addEventListener("click", async () => {
  const touched = { metadata: { name: "touched" }, value: { times: 1 } };
  try {
    await (keys.peek("touched") === undefined
      ? keys.create(touched)
      : keys.update("touched", ({ value, ...rest }) => ({ ...rest, value: { times: value.times + 1 } })));
  } catch (error) {
    find("#phase").textContent = error.message;
  }
});
open("");
status();
