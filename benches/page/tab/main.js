// The page for visitors: it runs rows of the benchmarks in this tab.
import { ratioTable } from "../../lib/report.mjs";
import { thisEngine } from "./engine.js";
import { measureRows, ROWS } from "./rows.js";
import { element, showLines } from "./table.js";

const find = (selector) => document.querySelector(selector);
const form = find("form");
const [run, stop, copy] = ["#run", "#stop", "#copy"].map(find);
const [bar, status] = ["#progress progress", "#progress [role=status]"].map(find);
const disturbed = find("#disturbed");

let lines = [];
let engine = "";
/** What ends the run; undefined while nothing runs. */
let running;

for (const { row, about } of ROWS) {
  const box = element("input", { type: "checkbox", name: "row", value: row.name, checked: true });
  find("#rows").append(element("label", {}, box, " ", element("code", {}, row.name), ` ${about}`));
}

function setRunning(controller) {
  running = controller;
  run.disabled = controller !== undefined;
  stop.disabled = controller === undefined;
  bar.hidden = controller === undefined;
  for (const input of form.querySelectorAll("input")) input.disabled = controller !== undefined;
}

function show(more = []) {
  lines = [...lines, ...more];
  showLines(find("#results"), lines);
  copy.disabled = lines.length === 0;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const asked = new FormData(form);
  const rows = ROWS.filter(({ row }) => asked.getAll("row").includes(row.name));
  if (rows.length === 0) return void (status.textContent = "Choose a row first.");
  lines = [];
  show();
  disturbed.hidden = !document.hidden;
  const controller = new AbortController();
  setRunning(controller);
  bar.max = rows.length;
  bar.value = 0;
  const began = performance.now();
  await measureRows(rows, {
    mode: asked.get("mode"),
    signal: controller.signal,
    url: location.origin,
    say: (text) => void (status.textContent = `Row ${Math.min(bar.value + 1, rows.length)} of ${rows.length}: ${text}`),
    done(more) {
      bar.value += 1;
      show(more);
    },
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  const little = asked.get("mode") === "quick" ? " Rounds as short as these prove that it works; their times say nothing." : "";
  status.textContent = controller.signal.aborted
    ? `Stopped after ${bar.value} of ${rows.length} rows.`
    : `Done in ${seconds} s, in ${engine}.${little}`;
  setRunning(undefined);
});

stop.addEventListener("click", () => running?.abort());

copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(`${ratioTable(lines.map((line) => ({ peer: "", ...line })))}\n\n${engine}\n`);
  status.textContent = "The results are on the clipboard.";
});

document.addEventListener("visibilitychange", () => {
  if (running && document.hidden) disturbed.hidden = false;
});

engine = await thisEngine();
const cores = `${navigator.hardwareConcurrency} processors`;
const clock = globalThis.crossOriginIsolated ? "a fine clock" : "a coarse clock: the page is not isolated from other origins";
find("#engine").textContent = `${engine}, ${cores}, ${clock}.`;
