import type { WatchCacheError } from "../error/errors.js";
import type { IndexFunction } from "../indexes/types.js";
import type { Line } from "../link/line.js";
import type { Runtime } from "../load/instance.js";
import type { MetricLabels } from "../upstream/spec.js";
import type { Ticker } from "../view/ticker.js";
import type { FrameEncoder } from "../wire/frame-encoder.js";
import type { RawModule, RawResource } from "../wire/raw.js";
import type { Delivery } from "./delivery.js";

/** What a resource does as its page and its WebAssembly instance do. */
export interface PageLife {
  wake(): void;
  hide(): void;
  /** What its status is made of may have changed. */
  tell(): void;
  poisoned(error: WatchCacheError): void;
}

/** What resources `R` need of their cache. */
export interface ResourceHost<R> {
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
  /** It has a session, and hears of the page until that is dropped. */
  opened(resource: R, life: PageLife): void;
  dropped(resource: R): void;
  closed(resource: R): void;
  /** It is of these namespaces from now on. Fails where it never was of several. */
  moved(resource: R, namespaces: readonly string[]): { readonly namespaces: readonly string[]; readonly labels: MetricLabels };
  /** The ways to the worker that holds its streams; none where this page holds them. */
  lines(resource: R): readonly Line[];
  /** Where its streams are held elsewhere, and nobody is there: when that is tried again, if a try is not under way. */
  readonly away: { readonly retryAt: number | undefined } | undefined;
  /** Whether it is to be found again, though nobody holds it. */
  keep(resource: R, keeps: boolean): void;
}

/** Opens the resource in the core, without starting it. */
export type Open = (module: RawModule, delivery: Delivery, frames: FrameEncoder) => RawResource;
