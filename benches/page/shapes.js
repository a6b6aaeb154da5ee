// The two shapes of a benchmark's events. Rows say which they have.
import realPod from "../../tests/data/pod.json";
import { clusterEvents } from "./cluster-events.js";
import { asServed, flat, frame, podTexts, template } from "./frames.js";

const SHAPES = {
  /** One pod under many names. An event replaces it by itself under a new version, all pods in turn. */
  replaced({ objects, groups, size = "large" }) {
    const text = podTexts(template(size), groups);
    return { item: (number, version) => text(number, version), next: (version) => frame(text(version % objects, version)) };
  },
  /** Different pods, and what a cluster's watch tells of them. */
  cluster({ objects, groups }) {
    const events = clusterEvents(asServed(realPod), { objects, groups });
    return { item: (number, version) => flat(events.item(number, version)), next: (version) => frame(events.next(version).text) };
  },
};

/**
 * Pods and their events, the same ones for the same options.
 * @param {{ shape: keyof typeof SHAPES, objects: number, groups?: number, size?: "large" | "small" | number }} options with `groups`, a
 * pod's label `group` is its number's remainder; a `size` is for replaced pods only
 * @returns `items(version)`, the texts of a list, and `frames(from, count)`, the events that follow, from version `from` on
 */
export function events({ shape, objects, ...more }) {
  const { item, next } = SHAPES[shape]({ objects, groups: 0, ...more });
  return {
    items: (version) => Array.from({ length: objects }, (_, number) => item(number, version)),
    frames: (from, count) => Array.from({ length: count }, (_, i) => next(from + i)),
  };
}
