// A worker script of the app's own: the package's, and what else the app wants of it.
import "watchcache/worker.js";

globalThis.extra = "the app's own part";
