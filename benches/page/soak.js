// Very many different pods, a long history, and events without end. Do they fit into memory, and does it stay at that?
import realPod from "../../tests/data/pod.json";
import { differentPods } from "./different-pods.js";
import { flat, frame } from "./frames.js";
import { Checksum, settle, turn } from "./measure.js";
import { canonical } from "./path.js";
import { FRAMES_A_TASK, idle, LISTED, openCache } from "./upstream.js";

let running;

/** Above what is expected by far: the row says what is held, it does not end early. */
const BOUND = 3 * 2 ** 30;

/** @param {{ objects: number, history: number }} options */
export async function openSoak({ objects, history }) {
  const text = differentPods(realPod);
  const items = Object.assign((i) => text(i, LISTED), { count: objects });
  const bounds = { history: { minEvents: history, maxEvents: history, maxBytes: BOUND }, memory: { maxBytes: BOUND } };
  const upstream = await openCache(items, LISTED, bounds);
  running = { ...upstream, text, objects, version: LISTED };
  await settle();
}

/** Events that are fed before the cache may use its idle time, as it does between the bursts of a cluster. */
const BURST = 5_000;

/** @param {{ count: number }} options `count` heartbeats, of all pods in turn; afterwards the cache is idle */
export async function feedSoak({ count }) {
  const { socket, resource, cache, text, objects } = running;
  const began = performance.now();
  const last = running.version + count;
  while (running.version < last) {
    const until = Math.min(running.version + BURST, last);
    while (running.version < until) {
      await turn();
      for (const end = Math.min(running.version + FRAMES_A_TASK, until); running.version < end;) {
        const version = ++running.version;
        socket.onmessage({ data: frame(text((version * 7919) % objects, version, version - LISTED)) });
        await undefined;
      }
      if (resource.status.phase !== "live") throw new Error(`the resource is ${resource.status.phase}: ${resource.status.error}`);
    }
    await idle(cache, 60);
  }
  await idle(cache);
  return { ms: performance.now() - began };
}

/** What is held now, and whether it is what was fed. */
export async function lookSoak() {
  const { cache, resource, text, objects, version } = running;
  const stats = cache.stats();
  const { history, historyBytes, bytes, objects: held } = stats.resources[0];
  const [ours, theirs] = [new Checksum(), new Checksum()];
  for (let number = 0; number < objects; number += Math.ceil(objects / 100)) {
    const expected = newest(number, version, objects);
    const object = JSON.parse(flat(text(number, expected, expected === LISTED ? 0 : expected - LISTED)));
    theirs.add(canonical(object));
    ours.add(canonical(resource.peek(`${object.metadata.namespace}/${object.metadata.name}`)));
  }
  if (String(ours) !== String(theirs)) throw new Error(`what is held is not what was fed: ${ours}, ${theirs}`);
  await settle();
  return { memoryBytes: stats.memoryBytes, objects: held, history, historyBytes, bytes, checksum: String(ours), fed: String(theirs) };
}

/** The version of a pod's last event, or the list's. */
function newest(number, version, objects) {
  for (let at = version; at > Math.max(LISTED, version - objects); at--) if ((at * 7919) % objects === number) return at;
  return LISTED;
}
