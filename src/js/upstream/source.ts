import type { ByteStream, HostAbortSignal, UrlLike } from "../host/types.js";
import type { MaybePromise, PollOptions } from "./types.js";

declare const held: unique symbol;

/** A source that says what type its objects have, as one of `watchcache/memory` does. */
export interface TypedSource<T> extends Source {
  /** Tells the type. Never there. */
  readonly [held]?: T;
}

/**
 * What a module exports by default whose address is given as a source: the source, or a function that makes it. Such a function is called with the resource's `id`
 * whenever that is opened.
 */
export type SourceModule<T = any> = TypedSource<T> | ((id: string) => MaybePromise<TypedSource<T>>);

/** Anything else that can list and watch. Equal sources with equal ids share one resource. */
export interface SourceSpec<T = any> {
  /**
   * What lists and watches. Or the address of a module that exports it by default (`SourceModule`), such as `new URL("./source.js", import.meta.url)`: whoever holds the
   * streams imports it. Where that is a worker, this is the only way.
   */
  source: TypedSource<T> | string | UrlLike;
  /** What messages call it. */
  id: string;
  /** Lists it again and again, though it has `watch`. */
  poll?: PollOptions | undefined;
}

/** A source that is listed again and again, and need not have `watch`. */
export interface PolledSourceSpec<T = any> {
  /** What lists, or the address of a module, as in `SourceSpec`. */
  source: Omit<TypedSource<T>, "watch"> | string | UrlLike;
  /** What messages call it. */
  id: string;
  /** How often. The list may have no version, and neither may its objects. */
  poll: PollOptions;
}

/** Any API that can list and then watch from the list's version. */
export interface Source {
  /**
   * One page: a Kubernetes-style List document `{ metadata: { resourceVersion, continue?, remainingItemCount? }, items: [...] }`.
   * To refuse, reject with `{ code, reason, message, retryAfterSeconds }`, where `code` is an HTTP status. Or reject with `{ status }`, a
   * whole Status object, such as the error of another cache has.
   *
   * `namespace`, `name` and the selectors say which part would do. They may be left unheeded: what comes is selected in any case. A
   * `continue` is one that the source gave with an earlier page.
   */
  list(
    request: {
      resourceVersion?: string;
      resourceVersionMatch?: string;
      limit?: number;
      continue?: string;
      namespace?: string;
      name?: string;
      labelSelector?: string;
      fieldSelector?: string;
    },
    signal: HostAbortSignal,
  ): Promise<SourceAnswer>;
  /** Each item is one watch frame, `{ type, object }` as JSON. Its end is the end of the stream; reject as for `list`. */
  watch(
    request: {
      resourceVersion: string;
      allowWatchBookmarks: boolean;
      timeoutSeconds: number;
      sendInitialEvents?: boolean;
      resourceVersionMatch?: string;
    },
    signal: HostAbortSignal,
  ): AsyncIterable<string | Uint8Array>;

  /**
   * One object as it stands now, or the `subresource` of it that is named. Reject as for `list`, with code 404 where there is none. Without it,
   * updates look for the object in lists.
   */
  get?(request: { namespace?: string; name: string; subresource?: string }, signal: HostAbortSignal): Promise<SourceAnswer>;
  /**
   * Adds the object that `body` holds as JSON; answers with the object as it is kept. Reject with code 409 where its name is taken. With a
   * `subresource` it belongs to the object `name`.
   */
  create?(request: SourceWrite & { name?: string }, signal: HostAbortSignal): Promise<SourceAnswer>;
  /**
   * Replaces the object, if it still has the `metadata.resourceVersion` that stands in `body`; answers with the object as it is kept.
   * Reject with code 409 where it has another one, and the change is made anew from what `get` gives. Where `metadata.managedFields` is
   * missing from `body`, keep what you have.
   */
  update?(request: SourceWrite & { name: string }, signal: HostAbortSignal): Promise<SourceAnswer>;
  /**
   * Changes the object by the patch in `body`, whichever version it has; answers with the object as it is kept. `type` is the media type of the
   * patch, such as `application/merge-patch+json`. Reject with code 415 for a type that you do not know, with 422 for a patch that does not apply.
   */
  patch?(request: SourceWrite & { name: string; type: string; force?: boolean }, signal: HostAbortSignal): Promise<SourceAnswer>;
  /**
   * Deletes the object. `body` holds `DeleteOptions` as JSON; reject with code 409 where its `preconditions` do not hold. Answers with
   * the object under the version of its deletion, with a Status, or with nothing.
   */
  delete?(request: { namespace?: string; name: string; body: string }, signal: HostAbortSignal): Promise<SourceAnswer | void>;
  /**
   * Deletes all objects that these members choose: unlike `list`, it has to heed them all, or to reject with code 400. `body` as for `delete`.
   * Answers with a list of the objects, as they were, with a Status, or with nothing.
   */
  deleteCollection?(
    request: { namespace?: string; labelSelector?: string; fieldSelector?: string; body: string },
    signal: HostAbortSignal,
  ): Promise<SourceAnswer | void>;

  /**
   * Set where this is a Kubernetes API that is reached in a way of your own. Its `namespace` is the only one that the source is about, if
   * so. Its lists are narrowed as asked, and its continue tokens are the apiserver's, which the cache then writes and reads as well.
   * Otherwise the cache marks its own tokens, and nobody else reads them.
   */
  collection?: { namespace?: string | undefined } | undefined;
  /**
   * The upstream's current version. Together with `requestProgress` it lets the cache answer consistent reads by itself, as etcd lets the
   * apiserver's; without, they are read from the upstream.
   */
  currentResourceVersion?(signal: HostAbortSignal): Promise<string>;
  /**
   * Asks the upstream to send a BOOKMARK with its current version on the open watch. Called ten times a second while somebody waits for a
   * version, and never otherwise. It is done when the request is sent; a rejection is followed by the next request.
   */
  requestProgress?(signal: HostAbortSignal): Promise<void>;
  /**
   * Before which version the upstream serves no state any more; `"0"` where it serves all. Asked every 15 seconds while the resource is open. A list at
   * an earlier version is then not answered by the cache either, but by `list`, which refuses it with code 410.
   */
  compactedResourceVersion?(signal: HostAbortSignal): Promise<string>;
}

/** A write of one object. */
export interface SourceWrite {
  /** Absent for what has no namespace. */
  namespace?: string;
  /** JSON. */
  body: string;
  /** A part of the object with an address of its own, such as `status`. Reject with code 404 for one that you do not have. */
  subresource?: string;
  /** Check the write, answer as if it had happened, and keep nothing. Reject with code 400 where that cannot be done. */
  dryRun?: boolean;
  /** Who writes. */
  fieldManager?: string;
  /** `Ignore`, `Warn` or `Strict`. */
  fieldValidation?: string;
}

/** What a source answers: JSON as text, as bytes, or as a stream of bytes. */
export interface SourceAnswer {
  /** One JSON document. */
  body: string | Uint8Array | ByteStream;
}
