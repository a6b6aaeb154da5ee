// An app that imports the package and uses nothing of it: an honest sideEffects field lets a bundler drop it whole.
import "watchcache";
import { createWatchCache, WatchCacheError } from "watchcache";

document.title = "nothing of the package is used";
