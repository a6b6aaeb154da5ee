// What scripts/bench.mjs may ask of this page. Each scenario runs the package and its peers on the same input.
import { fanout } from "./fanout.js";
import { ingest } from "./ingest.js";
import { load, loaded } from "./load.js";
import { init } from "/dist/index.js";

globalThis.scenarios = { ingest, fanout, load, loaded };
globalThis.ready = init();
