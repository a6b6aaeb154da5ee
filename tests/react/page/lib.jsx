// What scenarios share: an upstream in memory, a root, and waiting for what is on the screen.
import { Component, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

const ends = [];

/** What a failure tells beside the page. */
let note = () => "";
export const noting = (tell) => void (note = tell);

/** Undoes what a scenario has made, last things first. */
export async function leave() {
  for (const end of ends.splice(0).reverse()) await end();
}

export const later = (end) => void ends.push(end);

/** A cache whose waits are short, and a resource over an upstream in memory. */
export function things({ count = 0, options = {}, ...source } = {}) {
  const upstream = memorySource({ objects: Array.from({ length: count }, (_, i) => thing(i)), ...source });
  const cache = createWatchCache({ linger: 300, ...options });
  later(() => cache.close());
  return { upstream, cache, resource: cache.resource({ source: upstream, id: "things" }) };
}

export const thing = (i, more = {}) => ({
  metadata: { namespace: i % 2 ? "odd" : "even", name: `thing-${i}`, labels: { app: i % 3 ? "web" : "db" } },
  spec: { size: i },
  ...more,
});

/** Renders into a container of its own. @returns what the container shows, and how to render anew */
export function mount(element, { strict = true, onCaughtError = () => {} } = {}) {
  const container = document.body.appendChild(document.createElement("div"));
  const root = createRoot(container, { onCaughtError });
  const render = (next) => root.render(strict ? <StrictMode>{next}</StrictMode> : next);
  let isThere = true;
  const unmount = () => {
    if (isThere) root.unmount();
    isThere = false;
    container.remove();
  };
  later(unmount);
  render(element);
  return { container, render, unmount, text: () => container.textContent };
}

/** Shows what was thrown below it, until it is clicked. */
export class Boundary extends Component {
  state = {};
  static getDerivedStateFromError = (error) => ({ error });
  render = () =>
    this.state.error === undefined ? (
      this.props.children
    ) : (
      <button onClick={() => this.setState({ error: undefined })}>{`caught ${this.state.error.code}: ${this.state.error.message}`}</button>
    );
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
/** Two frames on, whatever one flush has caused is on the screen. */
export const settled = async () => {
  for (let i = 0; i < 3; i++) await frame();
};

/** Waits for a condition, and fails by its own text. */
export async function until(condition, ms = 5_000) {
  const deadline = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > deadline)
      throw new Error(`never: ${condition}; the page shows ${document.body.textContent.slice(0, 500)}; ${note()}`);
    await sleep(5);
  }
}

/** All texts that an element shows from now on, each once in a row. */
export function history(container) {
  const seen = container.textContent === "" ? [] : [container.textContent];
  const observer = new MutationObserver(() => {
    if (container.textContent !== seen.at(-1)) seen.push(container.textContent);
  });
  observer.observe(container, { subtree: true, childList: true, characterData: true });
  later(() => observer.disconnect());
  return seen;
}

/** The resources whose streams are open; objects stay for five minutes more. */
export const open = (cache) => cache.stats().resources.filter(({ phase }) => phase !== "idle").length;

/** The views that are open in the core. */
export const views = (cache) => cache.stats().resources.reduce((sum, resource) => sum + resource.views, 0);
