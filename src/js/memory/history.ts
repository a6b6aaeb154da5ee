import type { ObjectLike } from "../object/metadata.js";

/** A change at its version. `object` is what it left, or what was deleted, under the version of the change. */
export interface Change<T> {
  readonly version: bigint;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  readonly object: T;
  readonly previous: T | undefined;
  /** The event as it went out. */
  readonly frame: string;
}

/** Changes that are kept at most. A story that is left open overnight must not fill the memory; etcd keeps five minutes. */
const MAX_CHANGES = 10_000;

/** `"namespace/name"`, or `"name"` where there is no namespace. */
export function keyOf({ metadata }: ObjectLike): string {
  const { namespace, name } = metadata ?? {};
  return namespace ? `${namespace}/${name}` : (name ?? "");
}

/** Versions whose order is kept at once: the newest, and those of lists that are still being read. */
const MAX_STATES = 4;

/** The objects at one version. */
export interface State<T> {
  /** In order. */
  readonly keys: readonly string[];
  /** In the order of their keys. */
  readonly objects: readonly T[];
}

/** The objects at all versions that are kept. */
export class History<T extends ObjectLike> {
  #version: bigint;
  /** Nothing before this version is known. */
  #oldest: bigint;
  readonly #objects = new Map<string, T>();
  #changes: Change<T>[] = [];
  /** Sorted once, for all pages and reads. The one that was made last comes last. */
  readonly #states = new Map<bigint, State<T>>();
  readonly #frameOf: (type: string, object: T) => string;

  constructor(version: bigint, frameOf: (type: string, object: T) => string) {
    this.#version = this.#oldest = version;
    this.#frameOf = frameOf;
  }

  get version(): bigint {
    return this.#version;
  }

  /** A higher version is one of another resource; at a lower one the past is gone. */
  set version(version: bigint) {
    const isPast = version < this.#version;
    this.#version = version;
    if (isPast) this.forget();
  }

  get oldest(): bigint {
    return this.#oldest;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  put(object: T): Change<T> {
    const key = keyOf(object);
    const type = (): Change<T>["type"] => (this.#objects.has(key) ? "MODIFIED" : "ADDED");
    return this.#keep(type, key, object);
  }

  remove(key: string): Change<T> | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    return this.#keep(() => "DELETED", key, previous);
  }

  forget(): void {
    this.#changes = [];
    this.#states.clear();
    this.#oldest = this.#version;
  }

  /** The changes after a version, in their order. */
  since(version: bigint): Change<T>[] {
    return this.#changes.filter((change) => change.version > version);
  }

  /** The objects at a version, in the order of their keys. Undefined where that version is gone. */
  at(version: bigint): State<T> | undefined {
    if (version < this.#oldest) return undefined;
    const known = this.#states.get(version);
    if (known !== undefined) return known;
    const objects = new Map(this.#objects);
    for (const { key, previous } of this.since(version).reverse()) {
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    }
    const keys = [...objects.keys()].sort();
    const state = { keys, objects: Object.freeze(keys.map((key) => objects.get(key)!)) };
    for (const other of this.#states.keys()) if (this.#states.size >= MAX_STATES) this.#states.delete(other);
    this.#states.set(version, state);
    return state;
  }

  /** What throws here, such as a script's own function, has changed nothing. */
  #keep(typeOf: () => Change<T>["type"], key: string, unversioned: T): Change<T> {
    for (;;) {
      const version = this.#version + 1n;
      const [type, previous] = [typeOf(), this.#objects.get(key)];
      const object = frozen({ ...unversioned, metadata: { ...unversioned.metadata, resourceVersion: String(version) } });
      const change = { version, type, key, object, previous, frame: this.#frameOf(type, object) };
      // What makes the frame may itself have changed something: then this one comes after it.
      if (this.#version + 1n !== version) continue;
      this.#version = version;
      if (type === "DELETED") this.#objects.delete(key);
      else this.#objects.set(key, object);
      this.#changes.push(change);
      // Half at once: one by one each change would move all the others.
      if (this.#changes.length > MAX_CHANGES) this.#oldest = this.#changes.splice(0, MAX_CHANGES / 2).at(-1)!.version;
      return change;
    }
  }
}

/** With all that is in it: what was given out is nobody's to change, as a source would then lie about its past. */
function frozen<V>(value: V): V {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
