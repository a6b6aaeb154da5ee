import type { Delivery } from "./delivery.js";
import type { Runtime } from "./init.js";
import type { RawModule, RawResource } from "./raw.js";
import type { ResourceImpl } from "./resource.js";
import type { Ticker } from "./ticker.js";
import type { IndexFunction } from "./types.js";

/** What a resource needs of its cache. */
export interface ResourceHost {
  readonly ticker: Ticker;
  readonly linger: number;
  readonly debug: boolean;
  report(error: unknown): void;
  warn(message: string): void;
  /** The functions that make index values. */
  readonly indexers: readonly IndexFunction[];
  readonly runtime: Runtime;
  /** A call failed: whether because the instance is poisoned. */
  checkPoison(): void;
  opened(resource: ResourceImpl<any>): void;
  dropped(resource: ResourceImpl<any>): void;
  closed(resource: ResourceImpl<any>): void;
  /** Whether it is to be found again, though nobody holds it. */
  keep(resource: ResourceImpl<any>, keeps: boolean): void;
}

/** Opens the resource in the core, without starting it. */
export type Open = (module: RawModule, delivery: Delivery) => RawResource;

/** What tells the metrics of resources apart, beside their names. */
export interface MetricLabels {
  readonly group: string;
  /** Empty for all of the resource. */
  readonly scope: string;
}
