// The package and what a page would use instead of it. Each takes the frames of a socket, and tells the subscribers of a group of pods
// what changed in it. `open(upstream)` gives these methods:
//
// - `take(frame)`: the text of a frame has arrived.
// - `flush()`: the task's last frame has been taken. Peers that work in batches work now.
// - `subscribe(group, hear)` calls `hear(key, version, object)` for each change of a pod of the group; without a group, of any pod.
// - `view(hear)` calls `hear` with the first rows by start, newest first, without those of one group. It does so now and at each flush
//   that changes them, and returns the function that ends it.
// - `keys()` and `get(key)` read the state.
// - `settled(version)` resolves when everything up to that version is applied and told.
// - `close()` ends it.
//
// All peers hold what they parsed. They tell subscribers of the changed objects alone, which favours them: some pages hand over all
// objects.
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
