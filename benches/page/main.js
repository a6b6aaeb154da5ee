// What scripts/bench.mjs may ask of this page. Each scenario runs the package and its peers on the same input.
import { init } from "watchcache";
import { fanout } from "./fanout.js";
import { ingest } from "./ingest.js";
import { load, loaded, rest } from "./load.js";
import { closePath, openPath, roundPath } from "./path.js";
import { closeResting, openResting, roundResting } from "./resting.js";
import { closeView, openView, roundView } from "./view.js";

globalThis.scenarios = {
  ingest,
  fanout,
  load,
  rest,
  loaded,
  openPath,
  roundPath,
  closePath,
  openResting,
  roundResting,
  closeResting,
  openView,
  roundView,
  closeView,
};
globalThis.ready = init();
