// What must hold at every frame of the page, of what is on it and of the snapshots that it was rendered from.
import { pods } from "example";
import { parseLabelSelector } from "../../../www/server/label-selector.mjs";
import { shown } from "./probed-hooks.js";

const LIMIT = 50;
const natural = new Intl.Collator("en", { numeric: true });
const sum = (counts) => [...counts.values()].reduce((a, b) => a + b, 0);

/** Frames looked at, by what could be compared in them; and what was wrong. */
const seen = { frames: 0, sums: 0, filtered: 0, rows: 0, blank: 0, longestBlank: 0, stale: 0, wrong: [], phases: {} };
globalThis.day = { seen, shown };

/** @param {string} what is wrong in this frame */
export function found(what) {
  if (seen.wrong.length < 20) seen.wrong.push(`frame ${seen.frames}: ${what}`);
}

/** By place: the element, the selector of its last good filter, and what was there in the frame before. */
const before = new Map();

export function check() {
  seen.frames++;
  const places = new Map([...document.querySelectorAll("[data-slot]")].map((element) => [element.dataset.slot, element]));
  for (const [slot, { view, status }] of shown) {
    const element = places.get(slot);
    if (element === undefined) found(`${slot} is rendered and not on the page`);
    else snapshotIsSound(slot, view);
    if (status === undefined || element === undefined) continue;
    tableIsRight(slot, element, view, status);
  }
  sumsAgree();
  for (const slot of before.keys()) if (!shown.has(slot)) before.delete(slot);
  seen.phases[pods.status.phase] = (seen.phases[pods.status.phase] ?? 0) + 1;
}

function snapshotIsSound(slot, view) {
  const { rows, keys, counts, total, offset } = view;
  if (![view, rows, keys, counts].every(Object.isFrozen)) found(`${slot} can be changed`);
  const names = rows.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  if (names.length !== keys.length || names.some((name, i) => name !== keys[i])) found(`${slot} has the keys ${keys} of ${names}`);
  if (new Set(keys).size !== keys.length) found(`${slot} shows a row twice: ${keys}`);
  if (rows.length + offset > total && rows.length > 0) found(`${slot} has ${rows.length} rows from ${offset} on, of ${total}`);
}

function tableIsRight(slot, element, view, status) {
  const { rows, keys, total, loaded, stale, error } = view;
  const place = placeOf(slot, element);
  const { filter, last } = place;
  const paragraph = element.querySelector("p").textContent;
  const words = `${loaded ? `${total} pods` : "loading"}, ${status.phase} ${stale ? "(not live)" : ""} ${error?.message ?? ""}`;
  if (paragraph !== words) found(`${slot} says "${paragraph}", and its snapshot "${words}"`);
  const items = [...element.querySelectorAll("li")].map((item) => item.textContent);
  const texts = rows.map((pod) => `${pod.metadata.name}: ${pod.status.phase}`);
  if (items.join() !== texts.join()) found(`${slot} shows ${items.length} rows that are not those of its snapshot`);

  if (loaded && rows.length !== Math.min(LIMIT, total)) found(`${slot} shows ${rows.length} of ${total} rows`);
  // Until others are there the rows are those of one filter before, which may have been whole and replaced between two frames.
  if (loaded) place.typed = [filter];
  const others = place.typed.map((text) => {
    const selector = parseLabelSelector(text);
    return rows.findIndex(({ metadata }) => !selector.matches(metadata.labels));
  });
  if (!others.includes(-1)) found(`${slot} shows ${keys[others[0]]} for "${place.typed.join('", "')}"`);
  const unordered = rows.findIndex((row, i) => i > 0 && natural.compare(rows[i - 1].metadata.name, row.metadata.name) > 0);
  if (unordered > 0) found(`${slot} shows ${keys[unordered]} behind ${keys[unordered - 1]}`);
  // A status is told at once, a view with its frame; in a hidden page frames are a timer's.
  if (document.visibilityState === "visible" && stale !== status.stale)
    found(`${slot} is ${stale ? "" : "not "}stale while ${status.phase}`);
  if (status.phase === "live" && stale) found(`${slot} is stale and live`);
  if (error !== undefined && error.code !== "invalid") found(`${slot} says ${error.code}: ${error.message}`);

  // What was once whole stays so, whatever the connection does; and half of the pods do not go at once.
  if (last?.filter === filter) {
    if (last.view.loaded && !loaded) found(`${slot} has gone back to loading, ${status.phase}`);
    if (last.view.loaded && last.view.total > 20 && total < last.view.total / 2)
      found(`${slot} fell from ${last.view.total} to ${total} rows`);
  }
  place.blank = loaded ? 0 : place.blank + 1;
  if (!loaded && pods.hasSynced) seen.blank++;
  if (pods.hasSynced) seen.longestBlank = Math.max(seen.longestBlank, place.blank);
  // React subscribes behind the first frames. From then on what is shown is what there is.
  place.age = last?.filter === filter ? place.age + 1 : 0;
  const now = view.view?.getSnapshot();
  if (place.age > 5 && (now?.rows !== rows || now.total !== total)) found(`${slot} has missed a snapshot`);
  if (place.age > 5 && status !== pods.status) found(`${slot} shows the status ${status.phase}, it is ${pods.status.phase}`);
  place.last = { filter, view };
  seen.rows += rows.length;
  if (stale) seen.stale++;
  if (filter !== "" && loaded) seen.filtered++;
}

/** A place keeps its last good filter while a mistake stands beside the box. */
function placeOf(slot, element) {
  let place = before.get(slot);
  if (place === undefined || place.element !== element.querySelector("input")) {
    place = { element: element.querySelector("input"), filter: "", typed: [""], blank: 0, age: 0 };
    before.set(slot, place);
  }
  accept(place, element);
  return place;
}

function accept(place, element) {
  if (element.querySelector("em").textContent !== "") return;
  place.filter = place.element.value;
  place.typed.push(place.filter);
}

// Two letters may come in one frame. This is heard behind React, and what it has rendered in answer stands by then.
document.addEventListener("input", ({ target }) =>
  queueMicrotask(() => {
    const element = target.closest("[data-slot]");
    const place = before.get(element.dataset.slot);
    if (place !== undefined) accept(place, element);
  }),
);

/** All that is on the page at one moment is of one state. */
function sumsAgree() {
  const loaded = [...shown].filter(([slot, { view }]) => view.loaded && slot !== "deployments");
  const totals = new Map();
  for (const [slot, { view }] of loaded) {
    const filter = before.get(slot)?.filter ?? "";
    const told = totals.get(filter);
    if (told !== undefined && told.total !== view.total) found(`${told.slot} has ${told.total} rows, and ${slot} ${view.total}`);
    totals.set(filter, { slot, total: view.total });
    if (slot.startsWith("by ") && sum(view.counts) !== view.total) found(`${slot} counts ${sum(view.counts)} of ${view.total}`);
    const text = document.querySelector(`[data-slot="${slot}"] span`)?.textContent;
    if (text !== undefined && text !== `${view.total} ${view.counts.size}`) found(`${slot} says "${text}" of ${view.total}`);
  }
  const byApp = shown.get("by app")?.view;
  if (!byApp?.loaded) return;
  seen.sums++;
  for (const [filter, { slot, total }] of totals) {
    const app = filter.match(/^app=(\w+)$/)?.[1];
    if (app !== undefined && (byApp.counts.get(app) ?? 0) !== total)
      found(`${slot} has ${total} rows for "${filter}", counted are ${byApp.counts.get(app)}`);
  }
}
