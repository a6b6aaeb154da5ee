// A React table of live pods while heartbeats come in, over a real WebSocket: what it costs the page's own thread.
import { settle, until } from "./measure.js";
import { mount } from "./table/component.js";
import { stores } from "./table/store.js";

let running;

/** Two frames of the screen: what was taken in is drawn, and React has shown it. */
async function drawn() {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
}

/** @param {{ harness: keyof typeof stores, rows: number }} options so many rows are shown once the list is there */
export async function openTable({ harness, rows }) {
  const store = await stores[harness]();
  const table = mount(store);
  running = { store, table };
  await until(() => (table.text() === "" ? rows === 0 : table.text().split("\n").length === rows), "the table did not show its rows");
  await settle();
  await drawn();
}

/** The measured time begins: heartbeats come from now on. */
export async function beginTable() {
  running.seconds = await globalThis.threadSeconds();
  running.renders = running.table.renders();
}

/** @param {{ version: number }} options the last of them; gives the thread's time, and how many cells were rendered */
export async function endTable({ version }) {
  const { store, table, seconds, renders } = running;
  await until(() => store.version() >= version, `version ${version} did not arrive`);
  await drawn();
  return { cpuMs: ((await globalThis.threadSeconds()) - seconds) * 1000, renders: table.renders() - renders };
}

/** @param {{ text: string }} options what the table has to show in the end; gives what it shows */
export async function closeTable({ text }) {
  const { store, table } = running;
  const deadline = performance.now() + 10_000;
  while (table.text() !== text && performance.now() < deadline) await drawn();
  const shown = table.text();
  table.unmount();
  await store.close();
  running = undefined;
  return { shown };
}
