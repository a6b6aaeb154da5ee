import type { WatchCacheError } from "../error/errors.js";
import type { Immutable, Read } from "../object/readonly.js";
import type { Resource } from "../resource/types.js";
import type { View, ViewSnapshot, ViewWindow } from "../view/types.js";

/** A resource, or none yet. */
export type MaybeResource<T, Access = Immutable> = Resource<T, Access, any> | null | undefined;

/** What a component shows of a view: one snapshot, and the view that it is of. The same object until one of them changes. */
export interface LiveView<R, Access = Immutable> extends ViewSnapshot<R, Access> {
  /**
   * The view that the rows are of: for `indexOf`, `keys` and `changes`. The hook makes and closes it. Undefined where there is none: without a
   * resource, and while a first spec is refused.
   */
  readonly view: View<R, Access> | undefined;
  /** Moves the window, as `View.setWindow` does. It stays there until the spec names another one or another filter. Always the same function for one view. */
  readonly setWindow: (window: ViewWindow) => void;
}

/** What a component shows of one object. The same object until something in it changes. */
export interface LiveObject<T, Access = Immutable> {
  /** The object; undefined while there is none. */
  readonly object: Read<T, Access> | undefined;
  /** The object, or its last version where it is gone. Undefined where none was seen. */
  readonly last: Read<T, Access> | undefined;
  /** It was there, and it is gone. */
  readonly deleted: boolean;
  /** It is known whether there is such an object. */
  readonly loaded: boolean;
  /** Changes are not arriving: see the status of the resource. */
  readonly stale: boolean;
  /** Why nothing more comes before somebody acts. What was there stays. */
  readonly error?: WatchCacheError;
}
