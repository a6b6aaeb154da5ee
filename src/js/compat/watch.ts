import { call } from "../error/callbacks.js";
import { abortError, closedError, toError, type WatchCacheError } from "../error/errors.js";
import type { HostAbortController } from "../host/types.js";
import type { ResourceImpl } from "../resource/resource.js";
import type { WatchCache, WatchOptions } from "../types.js";
import { RequestError } from "./errors.js";
import { invalid, specOfPath } from "./path.js";

/** The parameters of a watch request that mean something here. */
export type WatchParameters = Record<string, string | number | boolean | undefined>;

/** Which events a watch has: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` where it was asked for, and `ERROR` with a `Status`. */
export type WatchCallback = (phase: string, apiObj: any, watchObj?: any) => void;

/** Watches by path. See the module's description for what differs from the class of `@kubernetes/client-node`. */
export class WatchOver {
  /** What the original calls `done` with, in some of its versions. */
  static readonly SERVER_SIDE_CLOSE: object = { error: "Connection closed on server" };
  /** The cache whose streams are watched. */
  readonly config: WatchCache;

  /** @param config the cache whose streams are watched */
  constructor(config: WatchCache) {
    this.config = config;
  }

  /**
   * Watches a collection. Its selectors narrow the upstream stream, which is shared with all who name the same ones.
   *
   * @param queryParams `resourceVersion`, `labelSelector`, `fieldSelector`, `allowWatchBookmarks`, `timeoutSeconds`, `sendInitialEvents` and
   *   `resourceVersionMatch`
   * @param done called once, at the end: with null after `timeoutSeconds` and after an ERROR event, with the `AbortError` after an abort. With a
   *   `RequestError` when the server refuses it for good, such as 403 or 410. Broken connections do not end it.
   * @returns resolves when the watch stands, or with the first error. Aborting the controller ends the watch.
   * @throws {WatchCacheError} `invalid` for a path or parameters that cannot be meant, `closed`.
   */
  async watch(path: string, queryParams: WatchParameters, callback: WatchCallback, done: (err: any) => void): Promise<HostAbortController> {
    const { labelSelector, fieldSelector, ...rest } = queryParams ?? {};
    const spec = specOfPath(path, text(labelSelector), text(fieldSelector));
    const options = read(rest);
    const resource = this.config.resource(spec);
    const report = (error: unknown) => (resource as unknown as ResourceImpl<any>).report(error);
    const controller = new AbortController();
    const { signal } = controller;

    let settle!: () => void;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    let over = false;
    const finish = (error: unknown) => {
      if (over) return;
      over = true;
      resource.removeEventListener("status", check);
      resource.removeEventListener("error", settle);
      controller.abort();
      settle();
      call(done, [error], report);
    };
    const check = () => {
      const { status } = resource;
      if (status.phase === "failed" || status.phase === "needs-auth") finish(new RequestError(status.error));
    };
    // Whatever skips changes or relists goes on here, with the difference.
    const watcher = resource.watch({ ...options, onOverflow: "resync", signal });
    resource.addEventListener("status", check);
    resource.addEventListener("error", settle);
    signal.addEventListener("abort", () => finish(abortError(signal)), { once: true });
    watcher
      .forEach((event) => {
        if (event.resync) return;
        const { type, object } = event;
        call(callback, [type, object, { type, object }], report);
      })
      .then(
        async () => {
          const { reason } = await watcher.ended;
          finish(reason === "closed" ? new RequestError(closedError(spec.resource)) : null);
        },
        (error: unknown) => finish(new RequestError(toError(error, spec.resource) as WatchCacheError)),
      );
    resource.synced({ signal }).then(settle, settle);
    check();
    await settled;
    return controller;
  }
}

function text(value: string | number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function read(given: WatchParameters): WatchOptions {
  const options: WatchOptions = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || (name === "watch" && flag(name, value))) continue;
    switch (name) {
      case "resourceVersion":
        options.resourceVersion = String(value);
        break;
      case "resourceVersionMatch":
        options.resourceVersionMatch = String(value) as "NotOlderThan";
        break;
      case "allowWatchBookmarks":
      case "sendInitialEvents":
        options[name] = flag(name, value);
        break;
      case "timeoutSeconds":
        options.timeoutSeconds = Number(value);
        break;
      default:
        throw invalid(`the parameter ${name} means nothing to a watch here`);
    }
  }
  return options;
}

function flag(name: string, value: string | number | boolean): boolean {
  const word = String(value);
  if (word !== "true" && word !== "false") throw invalid(`${name} is true or false, not ${word}`);
  return word === "true";
}
