// What `npm run bench` measures, in this order. Each row (or group of rows) has a name, and a `measure` which gives what goes into the
// results. It has `scenarios` with the harnesses whose checksums must agree, `lines` of the table, and perhaps a `table` of its own.
import apiserver from "./apiserver.mjs";
import consoles from "./consoles.mjs";
import dispatch from "./dispatch.mjs";
import etcd from "./etcd.mjs";
import fanout from "./fanout.mjs";
import informer from "./informer.mjs";
import ingest from "./ingest.mjs";
import load from "./load.mjs";
import namespaces from "./namespaces.mjs";
import parts from "./parts.mjs";
import path from "./path.mjs";
import recovery from "./recovery.mjs";
import relay from "./relay.mjs";
import resting from "./resting.mjs";
import size from "./size.mjs";
import soak from "./soak.mjs";
import table from "./table.mjs";
import tabs from "./tabs.mjs";
import view from "./view.mjs";
import warm from "./warm.mjs";

export const ROWS = [
  ingest,
  fanout,
  path,
  dispatch,
  view,
  table,
  consoles,
  resting,
  load,
  warm,
  tabs,
  parts,
  namespaces,
  informer,
  soak,
  size,
];

/** Rows over real servers, which need Go. They are measured when they are named, and kept apart. */
export const SERVER_ROWS = [etcd, apiserver, recovery, relay];
