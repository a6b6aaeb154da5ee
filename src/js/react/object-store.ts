import { originOf } from "../cache/origin.js";
import { toError } from "../error/errors.js";
import type { Resource } from "../resource/types.js";
import type { View, ViewSnapshot } from "../view/types.js";
import type { LiveObject } from "./types.js";

/** What is known of an object before anything is. */
export const UNKNOWN: LiveObject<never, any> = Object.freeze({
  object: undefined,
  last: undefined,
  deleted: false,
  loaded: false,
  stale: false,
});

/** Phases in which no stream is open, nor is being opened. */
const NOT_OPEN: readonly string[] = ["idle", "failed", "closed"];

/**
 * One object of a resource, over the stream that costs least: the resource's own where that is open, and else one of this object alone. That is
 * decided once all that came on the screen with the first component that shows it has opened its streams, in whichever order.
 */
export class ObjectStore<T, Access> {
  readonly #resource: Resource<T, Access, any>;
  readonly #key: string;
  readonly #namespace: string | undefined;
  readonly #name: string;
  /** The view of the one object, once it was decided whose, and that resource. */
  #view: View<T, Access> | undefined;
  #from: Resource<T, Access, any> | undefined;
  #subscribers = 0;
  /** What the last answer was made of. */
  #snapshot: unknown;
  #live: LiveObject<T, Access> = UNKNOWN;

  /** @param key `"namespace/name"` or `"name"` */
  constructor(resource: Resource<T, Access, any>, key: string) {
    this.#resource = resource;
    this.#key = key;
    const at = key.indexOf("/");
    this.#namespace = at < 0 ? undefined : key.slice(0, at);
    this.#name = key.slice(at + 1);
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#leaveClosed();
    this.#subscribers++;
    let end: (() => void) | undefined;
    let isOver = false;
    const begin = () => {
      if (!isOver) end = this.#open()?.subscribe(onChange);
    };
    if (this.#view !== undefined || isOpen(this.#resource)) begin();
    else {
      queueMicrotask(() => {
        begin();
        // The snapshot tells why there is no view, too.
        if (!isOver) onChange();
      });
    }
    return () => {
      isOver = true;
      this.#subscribers--;
      end?.();
    };
  };

  /** The resource whose stream it is over, once that was decided. */
  get from(): Resource<T, Access, any> | undefined {
    return this.#from;
  }

  readonly getSnapshot = (): LiveObject<T, Access> => {
    this.#leaveClosed();
    // A render opens nothing: it may be one that is thrown away.
    const view = this.#view ?? (isOpen(this.#resource) ? this.#open() : undefined);
    if (view === undefined) return this.#live;
    const snapshot = view.getSnapshot();
    if (snapshot === this.#snapshot) return this.#live;
    this.#snapshot = snapshot;
    this.#live = Object.freeze(this.#tell(snapshot));
    return this.#live;
  };

  readonly getServerSnapshot = (): LiveObject<T, Access> => UNKNOWN;

  #tell({ rows, keys, loaded, stale, error }: ViewSnapshot<T, Access>): LiveObject<T, Access> {
    const before = this.#live;
    // The selector says nothing of a namespace where the key has none.
    const at = keys.indexOf(this.#key);
    const isKnown = loaded || at >= 0;
    // Another stream than before, which knows nothing yet: what was there is shown.
    if (!isKnown && before.loaded) return { ...before, stale: true, ...(error && { error }) };
    const object = at < 0 ? undefined : rows[at];
    const last = object ?? before.last;
    const deleted = isKnown && object === undefined && last !== undefined;
    return { object, last, deleted, loaded: isKnown, stale, ...(error && { error }) };
  }

  /** Who comes back after a while may find that the table has gone: then its stream is not opened again for one object. */
  #leaveClosed(): void {
    if (this.#subscribers === 0 && this.#from !== undefined && !isOpen(this.#from)) this.#view = undefined;
  }

  /** Undefined where there is none, as of a closed cache: the snapshot says why, and keeps what was there. */
  #open(): View<T, Access> | undefined {
    if (this.#view !== undefined) return this.#view;
    try {
      this.#from = isOpen(this.#resource) ? this.#resource : this.#narrowed();
      this.#view = this.#from.view({
        namespaces: this.#namespace === undefined ? undefined : [this.#namespace],
        fieldSelector: this.#selector(),
      });
    } catch (thrown) {
      const error = toError(thrown, originOf(this.#resource)?.name);
      // The same snapshot for the same mistake: each render tries again.
      if (this.#live.error?.message !== error.message) this.#live = Object.freeze({ ...this.#live, stale: this.#live.loaded, error });
    }
    return this.#view;
  }

  /**
   * The same resource, of which the server sends this object alone. A custom source cannot be narrowed, and neither is one of several namespaces
   * for an object of another.
   */
  #narrowed(): Resource<T, Access, any> {
    const { cache, spec } = originOf(this.#resource) ?? {};
    if (cache === undefined || spec === undefined || this.#resource.status.phase === "closed") return this.#resource;
    const fieldSelector = spec.fieldSelector?.trim() ? `${spec.fieldSelector},${this.#selector()}` : this.#selector();
    const { namespaces, ...narrowed } = spec;
    if (namespaces?.includes(this.#namespace ?? "") === false) return this.#resource;
    const namespace = spec.namespace || this.#namespace;
    return cache.resource({ ...narrowed, namespace, fieldSelector }) as unknown as Resource<T, Access, any>;
  }

  #selector(): string {
    return `metadata.name=${this.#name.replace(/[\\,=]/g, "\\$&")}`;
  }
}

/** A stream of it is open, or being opened. */
export function isOpen(resource: Resource<any, any, any>): boolean {
  return !NOT_OPEN.includes(originOf(resource)?.phase() ?? resource.status.phase);
}
