// The page of the comparison: components that watch, by either subject, and what they were given.
import { Component, StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { WatchCacheProvider } from "watchcache/react";
import * as models from "./models.js";
import { cache, caches, register, subjects } from "./subjects.jsx";

const mounted = new Map();

class Boundary extends Component {
  state = {};
  static getDerivedStateFromError = (error) => ({ error });
  render() {
    const { error } = this.state;
    if (error) this.props.told.thrown = String(error.message);
    return error ? null : this.props.children;
  }
}

function One({ subject, spec, told }) {
  told.result = subject.useK8sWatchResource(spec);
  told.renders++;
  if (told.all.at(-1) !== told.result) told.all.push(told.result);
  return null;
}

function Many({ subject, spec, told }) {
  told.result = subject.useK8sWatchResources(spec);
  told.renders++;
  if (told.all.at(-1) !== told.result) told.all.push(told.result);
  return null;
}

/** Shows a component, or renders it again with another spec. */
function show(id, name, spec, { many = false, at } = {}) {
  const subject = subjects[name];
  if (!mounted.has(id)) {
    const element = document.createElement("div");
    mounted.set(id, { root: createRoot(element), told: { renders: 0, all: [] } });
  }
  const { root, told } = mounted.get(id);
  const Probe = many ? Many : One;
  const tree = (
    <subject.Around>
      <Boundary told={told}>
        <Probe subject={subject} spec={spec} told={told} />
      </Boundary>
    </subject.Around>
  );
  const placed = at ? <WatchCacheProvider cache={caches[at]}>{tree}</WatchCacheProvider> : tree;
  root.render(<StrictMode>{placed}</StrictMode>);
}

function end(id) {
  mounted.get(id)?.root.unmount();
  mounted.delete(id);
}

/** The page of the guide. */
function showPage(name, props) {
  const { Around, Page } = subjects[name];
  const element = document.body.appendChild(document.createElement("section"));
  element.id = name;
  const root = createRoot(element);
  mounted.set(name, { root });
  root.render(
    <StrictMode>
      <Around>
        <Page model={models.DeploymentModel} {...props} />
      </Around>
    </StrictMode>,
  );
}

/** What a component is told where nothing was registered yet. */
flushSync(() => show("unregistered", "ours", { groupVersionKind: { version: "v1", kind: "Pod" }, isList: true }));
const unregistered = mounted.get("unregistered").told.thrown;
end("unregistered");
register();

function brief(object) {
  if (object === null || object === undefined) return String(object);
  const { metadata, kind, apiVersion } = object;
  if (metadata === undefined) return JSON.stringify(object);
  return `${apiVersion}/${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}@${metadata.resourceVersion}`;
}
const briefly = (data) => (Array.isArray(data) ? data.map(brief).sort() : brief(data));
// The original has "" where it has no error.
const wrong = (error) => (error ? (error.response?.status ?? error.message) : "none");
const flat = ([data, loaded, error]) => ({ data: briefly(data), loaded, error: wrong(error) });

Object.assign(globalThis, {
  show,
  showPage,
  end,
  models,
  subjects,
  cache,
  clusters: caches,
  unregistered,
  /** What a component was given last. */
  given(id) {
    const { result, thrown } = mounted.get(id).told;
    if (thrown !== undefined) return { thrown };
    if (result === undefined) return undefined;
    if (Array.isArray(result)) return flat(result);
    return Object.fromEntries(Object.entries(result).map(([key, { data, loaded, loadError }]) => [key, flat([data, loaded, loadError])]));
  },
  /** All that it was given, one after the other. */
  givenSoFar: (id) => mounted.get(id).told.all.map(flat),
  told: (id) => mounted.get(id).told,
  /** What a call gives, or why it fails. */
  async call(name, call, { model, ...options }, pick = (value) => value) {
    try {
      const value = await subjects[name][call]({ model: models[model], ...options });
      return { value: pick(value) };
    } catch (error) {
      return { status: error.response?.status ?? null, code: error.code, message: error.message };
    }
  },
});
