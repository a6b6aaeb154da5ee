import { indexes } from "../indexes/options.js";
import { paths, scope } from "../options/grammar.js";
import { callback, flag, is, object, period, signal } from "../options/kinds.js";
import type { Bag } from "../options/read.js";
import type { HandlerOptions, InformerOptions, WaitOptions } from "./types.js";

export const INFORMER: Bag<InformerOptions<any>> = {
  resyncPeriod: period,
  transform: callback,
  indexers: indexes,
  relistUpdates: flag,
  readYourWrites: flag,
  onWatchError: callback,
  start: flag,
};
export const HANDLER: Bag<HandlerOptions<any>> = {
  ...scope,
  changesOf: paths,
  resyncPeriod: period,
  coalesce: flag,
  bufferSize: period,
  timeSlice: period,
  filter: callback,
};
export const WAIT: Bag<WaitOptions> = { timeoutMs: period, signal };

/** A handler's functions are such. */
export function checkHandler(handler: any): void {
  if (typeof handler === "function") return;
  object(handler, "what is no function as a handler");
  for (const name of ["onAdd", "onUpdate", "onDelete", "onOverflow"]) if (handler[name] !== undefined) callback(handler[name], name);
}

/** What can be waited for. */
export const syncing = is("an informer or a registration", (value) => typeof value?.hasSynced === "boolean");
