// The package and what a page would use instead of it. Each takes the frames of a socket and tells subscribers which want the pods of one
// group: `open(upstream)` gives
//   take(frame)               a frame's text has arrived
//   flush()                   the task's last frame has been taken: what works in batches, works now
//   subscribe(group, hear)    `hear` is given each change of the group's pods as (key, version, object); without a group of all pods
//   view(hear)                `hear` is given the first rows by start, newest first, without those of one group, now and at each flush that
//                             changes them; gives what ends it
//   keys(), get(key)          the state
//   settled(version)          resolves when everything up to that version is applied and told
//   close()
// All peers hold what they parsed. They give subscribers the changed objects alone, which is more than some of the pages do that use them.
import { clientNode } from "./client-node.js";
import { immutable } from "./immutable.js";
import { map } from "./map.js";
import { mobx } from "./mobx.js";
import { rxjs } from "./rxjs.js";
import { tanstack } from "./tanstack-db.js";
import { watchcache } from "./watchcache.js";

export const harnesses = {
  watchcache,
  "Map and predicates": map,
  "client-node informer": clientNode,
  RxJS: rxjs,
  MobX: mobx,
  "TanStack DB": tanstack,
  "Immutable.js": immutable,
};
