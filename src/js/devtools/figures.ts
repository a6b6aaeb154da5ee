import type { ResourceStats } from "../resource/types.js";

/** A column of the table: what stands above it, what that means, and what it shows. */
export interface Figure {
  readonly head: string;
  readonly title: string;
  readonly show: (stats: ResourceStats) => string;
}

const count = (value: number) => value.toLocaleString("en").replaceAll(",", "\u202f");

export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  return value < 1_000_000 ? `${(value / 1_000).toFixed(1)} kB` : `${(value / 1_000_000).toFixed(1)} MB`;
}

const seconds = (ms: number | undefined) => (ms === undefined ? "–" : `${Math.round(ms / 1_000)} s`);

export const FIGURES: readonly Figure[] = [
  { head: "over", title: "what the last watch came over: a WebSocket, or fetch", show: ({ transport }) => transport ?? "–" },
  { head: "objects", title: "objects held", show: ({ objects }) => count(objects) },
  { head: "held", title: "bytes of the objects and of the event window", show: (stats) => bytes(stats.bytes) },
  { head: "events", title: "events received from the server", show: ({ events }) => count(events) },
  { head: "lists", title: "lists of the server: one, and one for each relist", show: ({ lists }) => count(lists) },
  {
    head: "window",
    title: "events in the window, of those that fit, and how far back they reach",
    show: ({ history, historyCapacity, historyMs }) => `${count(history)} of ${count(historyCapacity)}, ${seconds(historyMs)}`,
  },
  { head: "watchers", title: "watches that are open", show: ({ watchers }) => count(watchers) },
  { head: "views", title: "views that are open", show: ({ views }) => count(views) },
  {
    head: "informers",
    title: "informers, their handlers, and notifications that wait for these",
    show: ({ informers, handlers, queued }) => `${count(informers)} / ${count(handlers)} / ${count(queued)}`,
  },
  { head: "delivered", title: "events delivered, once for each watch", show: ({ delivered }) => count(delivered) },
  {
    head: "decoded",
    title: "objects decoded, and how many of them from another version",
    show: ({ decoded, renewed }) => `${count(decoded)}, ${count(renewed)}`,
  },
];
