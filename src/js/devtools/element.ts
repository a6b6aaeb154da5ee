import type { WatchCache } from "../cache/types.js";
import { type OpenResource, resourcesOf } from "../cache/origin.js";
import { invalid, shown } from "../options/kinds.js";
import type { Resource } from "../resource/types.js";
import { bytes, FIGURES } from "./figures.js";
import { Log } from "./log.js";
import { STYLE } from "./style.js";

/** How often the figures are read, in milliseconds. */
const EVERY_MS = 500;

/** The element, as scripts see it. */
export interface WatchCacheDevtools extends HTMLElement {
  /** Whose resources it shows. While it is undefined, it shows nothing. */
  cache: WatchCache<any> | undefined;
}

/** What buttons do. The last one ends a pause as well; while it lasts, the others would do nothing, or end it unasked. */
const DO: readonly [name: string, title: string, act: (resource: Resource<any>) => unknown][] = [
  [
    "drop",
    "cut the stream; it goes on from where it was",
    (resource) => {
      resource.pause();
      // At once, both together would be nothing.
      setTimeout(() => resource.resume());
    },
  ],
  // What comes of it stands in the log.
  ["relist", "list the server anew", (resource) => resource.refresh().catch(() => {})],
  [
    "pause",
    "close the stream, or open it again",
    (resource) => (resource.status.phase === "paused" ? resource.resume() : resource.pause()),
  ],
];

/** One line of the table. */
interface Row {
  readonly element: HTMLTableRowElement;
  readonly phase: HTMLTableCellElement;
  readonly figures: readonly HTMLTableCellElement[];
  readonly buttons: readonly HTMLButtonElement[];
}

/** Made when it is asked for: where there is no document, there is no HTMLElement to extend. */
export function makeElement(): CustomElementConstructor {
  return class extends HTMLElement implements WatchCacheDevtools {
    #cache: WatchCache<any> | undefined;
    #log = new Log();
    #timer: ReturnType<typeof setInterval> | undefined;
    readonly #rows = new Map<Resource<any>, Row>();
    readonly #summary = document.createElement("header");
    readonly #body = document.createElement("tbody");
    readonly #list = document.createElement("ol");
    #newest: unknown;

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      root.adoptedStyleSheets = [sheet];
      const head = made("tr", "", made("th", "resource"), made("th", "phase"));
      for (const { head: name, title } of FIGURES) head.append(Object.assign(made("th", name), { title }));
      head.append(made("th", ""));
      this.#list.setAttribute("aria-label", "What happened, newest first");
      this.#list.tabIndex = 0;
      root.append(
        this.#summary,
        made("section", "", made("table", "", made("thead", "", head), this.#body)),
        made("section", "", made("h2", "what happened"), this.#list),
      );
    }

    get cache(): WatchCache<any> | undefined {
      return this.#cache;
    }

    set cache(cache: WatchCache<any> | undefined) {
      if (cache !== undefined && resourcesOf(cache) === undefined)
        throw invalid(`cache is what createWatchCache gives, of this copy of the package, not ${shown(cache)}`);
      this.#cache = cache;
      this.#log.follow(new Map());
      this.#log = new Log();
      if (this.isConnected) this.#show();
    }

    connectedCallback(): void {
      // Set before the element was defined: then it is a member of its own, which hides this one.
      if (Object.hasOwn(this, "cache")) {
        const { cache } = this;
        Reflect.deleteProperty(this, "cache");
        this.cache = cache;
      }
      this.#timer ??= setInterval(() => document.hidden || this.#show(), EVERY_MS);
      this.#show();
    }

    disconnectedCallback(): void {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#log.follow(new Map());
    }

    #show(): void {
      const open = this.#cache === undefined ? [] : resourcesOf(this.#cache)!();
      this.#log.follow(new Map(open.map(({ resource, label }) => [resource, label])));
      this.#showSummary(open);
      for (const [resource, { element }] of this.#rows) {
        if (open.some((one) => one.resource === resource)) continue;
        element.remove();
        this.#rows.delete(resource);
      }
      for (const { resource, label, stats } of open) {
        const row = this.#rows.get(resource) ?? this.#addRow(resource, label);
        const { phase, error, stale } = resource.status;
        text(row.phase, `${phase}${stale && phase !== "paused" ? ", stale" : ""}${error ? `: ${error.message}` : ""}`);
        row.phase.toggleAttribute("data-trouble", stale || error !== undefined);
        const pause = row.buttons.at(-1)!;
        text(pause, phase === "paused" ? "resume" : "pause");
        for (const button of row.buttons) button.disabled = phase === "paused" && button !== pause;
        FIGURES.forEach(({ show }, at) => text(row.figures[at]!, show(stats)));
      }
      this.#showLog();
    }

    #showSummary(open: readonly OpenResource[]): void {
      const stats = this.#cache?.stats();
      const words =
        stats === undefined
          ? "no cache: set the property cache"
          : `watchcache ${stats.version ?? "not loaded yet"} · ${open.length} open · ${open.filter(({ stats }) => stats.phase === "live").length} live · WebAssembly ${bytes(stats.memoryBytes)}`;
      text(this.#summary, words);
    }

    #showLog(): void {
      const { entries } = this.#log;
      if (entries[0] === this.#newest && entries.length === this.#list.childElementCount) return;
      this.#newest = entries[0];
      this.#list.replaceChildren(
        ...entries.map(({ at, text: what }) => made("li", "", made("time", at.toLocaleTimeString()), made("span", what))),
      );
    }

    #addRow(resource: Resource<any>, label: string): Row {
      const name = Object.assign(made("th", label), { scope: "row" });
      const phase = Object.assign(made("td", ""), { className: "phase" });
      const figures = FIGURES.map(() => made("td", ""));
      const buttons = DO.map(([word, title, act]) => {
        const button = Object.assign(made("button", word), { type: "button" as const, title });
        button.setAttribute("aria-label", `${word} ${label}`);
        button.addEventListener("click", () => {
          void act(resource);
          this.#show();
        });
        return button;
      });
      const does = Object.assign(made("td", "", ...buttons), { className: "does" });
      const element = made("tr", "", name, phase, ...figures, does);
      this.#body.append(element);
      const row = { element, phase, figures, buttons };
      this.#rows.set(resource, row);
      return row;
    }
  };
}

/** An element with text, which is never read as HTML, or with children. */
function made<Name extends keyof HTMLElementTagNameMap>(name: Name, words: string, ...children: Node[]): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (words !== "") element.textContent = words;
  element.append(...children);
  return element;
}

/** Touches the page only where something changed. */
function text(element: HTMLElement, words: string): void {
  if (element.textContent !== words) element.textContent = words;
}
