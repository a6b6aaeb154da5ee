import type { ObjectLike } from "../metadata-types.js";

/** A change at its version. `object` is what it left, or what was deleted, under the version of the change. */
export interface Change<T> {
  readonly version: number;
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

/** The objects at all versions that are kept. */
export class History<T extends ObjectLike> {
  #version: number;
  /** Nothing before this version is known. */
  #oldest: number;
  readonly #objects = new Map<string, T>();
  #changes: Change<T>[] = [];
  readonly #frameOf: (type: string, object: T) => string;

  constructor(version: number, frameOf: (type: string, object: T) => string) {
    this.#version = this.#oldest = version;
    this.#frameOf = frameOf;
  }

  get version(): number {
    return this.#version;
  }

  /** A higher version is one of another resource; at a lower one the past is gone. */
  set version(version: number) {
    const isPast = version < this.#version;
    this.#version = version;
    if (isPast) this.forget();
  }

  get oldest(): number {
    return this.#oldest;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  put(object: T): Change<T> {
    const key = keyOf(object);
    const previous = this.#objects.get(key);
    const stored = this.#stamped(object);
    this.#objects.set(key, stored);
    return this.#keep(previous === undefined ? "ADDED" : "MODIFIED", key, stored, previous);
  }

  remove(key: string): Change<T> | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    this.#objects.delete(key);
    return this.#keep("DELETED", key, this.#stamped(previous), previous);
  }

  forget(): void {
    this.#changes = [];
    this.#oldest = this.#version;
  }

  /** The changes after a version, in their order. */
  since(version: number): Change<T>[] {
    return this.#changes.filter((change) => change.version > version);
  }

  /** The objects at a version, in the order of their keys. Undefined where that version is gone. */
  at(version: number): [key: string, object: T][] | undefined {
    if (version < this.#oldest) return undefined;
    const objects = new Map(this.#objects);
    for (const { key, previous } of this.since(version).reverse()) {
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #stamped(object: T): T {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
  }

  #keep(type: Change<T>["type"], key: string, object: T, previous: T | undefined): Change<T> {
    const change = { version: this.#version, type, key, object, previous, frame: this.#frameOf(type, object) };
    this.#changes.push(change);
    // Half at once: one by one each change would move all the others.
    if (this.#changes.length > MAX_CHANGES) this.#oldest = this.#changes.splice(0, MAX_CHANGES / 2).at(-1)!.version;
    return change;
  }
}
