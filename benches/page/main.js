// What benches/bench.mjs may ask of this page. Each scenario runs the package and its peers on the same input.
import { init } from "watchcache";
import * as encoder from "./encoder.js";
import * as fanout from "./fanout.js";
import * as informer from "./informer.js";
import * as ingest from "./ingest.js";
import * as load from "./load.js";
import * as namespaces from "./namespaces.js";
import * as parts from "./parts.js";
import * as path from "./path.js";
import * as resting from "./resting.js";
import * as served from "./served.js";
import * as slices from "./slices.js";
import * as soak from "./soak.js";
import * as table from "./table.js";
import * as tabs from "./tabs.js";
import * as view from "./view.js";
import * as warm from "./warm.js";

globalThis.scenarios = {
  ...encoder,
  ...fanout,
  ...informer,
  ...ingest,
  ...load,
  ...namespaces,
  ...parts,
  ...path,
  ...resting,
  ...served,
  ...slices,
  ...soak,
  ...table,
  ...tabs,
  ...view,
  ...warm,
};
globalThis.ready = init();
