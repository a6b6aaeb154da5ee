/**
 * `watchcache/memory`: an upstream in memory for tests and stories. Nothing of it is part of the main entry. Start reading at `source.ts`.
 */
export { virtualClock } from "./clock.js";
export { memorySource } from "./source.js";
export type * from "./types.js";
export { sourceConformance } from "./conformance/conformance.js";
export type { ConformanceCheck, ConformanceOptions, SourceUnderTest } from "./conformance/types.js";
