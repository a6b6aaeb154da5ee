// What the row `consoles` asks of this page: one console a page, from held pods to a table, and that table while events come.
import { createElement, Fragment } from "react";
import { createRoot } from "react-dom/client";
import { init } from "watchcache";
import { settle, turn } from "../../page/measure.js";
import { ROWS } from "../../page/table/columns.js";
import { dropped } from "./dropped.js";
import { patiently } from "./peers.js";
import { query } from "./query.js";
import { makeTable } from "./table.js";
import { watchcache } from "./watchcache.js";

const consoles = {
  watchcache: async () => watchcache(),
  "watchcache, ordered before": async () => watchcache(true),
  "OpenShift useK8sWatchResource": async () => (await import("./openshift.js")).openshift(),
  "Headlamp useList": async () => (await import("./headlamp.js")).headlamp(),
  "TanStack Query": async () => query(true)(),
  "TanStack Query, all rows": async () => query(false)(),
  "read and dropped": async () => dropped(),
};

let running;

/** The screen's next frame has been drawn. */
async function painted() {
  await new Promise((resolve) => requestAnimationFrame(resolve));
  await turn();
}

const threadMs = async () => (await globalThis.threadSeconds()) * 1000;
const rowsShown = () => document.querySelectorAll(".row").length;
const textShown = () =>
  [...document.querySelectorAll(".row")]
    .slice(0, ROWS)
    .sort((a, b) => a.offsetTop - b.offsetTop)
    .map((row) => [...row.children].map(({ textContent }) => textContent).join(" "))
    .join("\n");

function render(showsTable) {
  const { root, peer, Table } = running;
  const { Around, Holder = Fragment } = peer;
  const holder = createElement(Holder, { key: "holder" });
  const table = showsTable && createElement(Table, { key: "table" });
  root.render(createElement(Around, null, [showsTable === "alone" ? null : holder, table]));
}

/** Loads all pods, and shows nothing. @param {{ harness: keyof typeof consoles, pods: number }} options */
async function holdPods({ harness, pods }) {
  const peer = await consoles[harness]();
  const { Table, renders } = makeTable(peer);
  const place = document.body.appendChild(document.createElement("main"));
  running = { root: createRoot(place), peer, Table, renders };
  render(false);
  await peer.hold(pods);
  await settle();
}

/** Mounts the table; gives what it took until its rows were painted. @param {{ rows: number }} options so many are shown */
async function mountTable({ rows }) {
  const cpuBegan = await threadMs();
  await painted();
  const began = performance.now();
  render(true);
  while (rowsShown() < rows) await painted();
  await painted();
  const ms = performance.now() - began;
  const cpuMs = (await threadMs()) - cpuBegan;
  render("alone");
  await painted();
  return { ms, cpuMs };
}

/** Leaves the table, as routes do, and comes back to it; gives the same of the second mount. @param {{ rows: number }} options as above */
async function mountAgain({ rows }) {
  // Some let go of a list when its last component goes.
  render(true);
  await painted();
  render(false);
  while (rowsShown() > 0) await painted();
  await settle();
  return mountTable({ rows });
}

/** Lets a cache pack what it has; gives what is held outside of the heap. */
async function restTable() {
  await running.peer.rest?.();
  await settle();
  return { memoryBytes: running.peer.memoryBytes() };
}

/** The measured time begins. */
async function beginEvents() {
  await painted();
  running.began = await threadMs();
  running.rendered = running.renders();
}

/** @param {{ namespace: string, name: string, version: number }} event the last one; gives the thread's time, and how much was rendered */
async function endEvents(event) {
  const { peer, renders, began, rendered } = running;
  await patiently(() => peer.reached(event), `version ${event.version} was not taken in`);
  await painted();
  await painted();
  return { cpuMs: (await threadMs()) - began, renders: renders() - rendered };
}

/** @param {{ text: string }} options what the table has to show in the end; gives what it shows */
async function readTable({ text }) {
  await patiently(() => textShown() === text, "", 20_000).catch(() => {});
  return { shown: textShown() };
}

async function closeTable() {
  running.root.unmount();
  await running.peer.close();
  running = undefined;
}

globalThis.scenarios = { holdPods, mountTable, mountAgain, restTable, beginEvents, endEvents, readTable, closeTable };
globalThis.ready = init();
