import { grammar, paths, scope } from "../options/grammar.js";
import { flag, text, whole, word } from "../options/kinds.js";
import type { Bag } from "../options/read.js";
import { READING } from "../request/options.js";
import type { WatchOptions } from "./types.js";

export const WATCH: Bag<WatchOptions> = {
  ...scope,
  ...READING,
  name: text,
  shardSelector: grammar,
  changesOf: paths,
  resourceVersionMatch: text,
  sendInitialEvents: flag,
  allowWatchBookmarks: flag,
  timeoutSeconds: whole(0),
  bufferSize: whole(0),
  onOverflow: word("terminate", "resync", "coalesce"),
  wait: flag,
};
