/** Objects that are read as they stand: they have nothing to change, or are changed through methods alone. */
type Opaque = Date | RegExp | ArrayBuffer | ArrayBufferView | ((...values: never) => unknown);

/**
 * An object that is not its reader's to change, nor anything in it: what every read, event and handler gives, because all readers share it.
 * Arrays, tuples, maps, sets, dates, functions and unions are heeded; `any` and `unknown` stay what they are.
 *
 * To change an object, change a copy: `structuredClone(pod) as Pod`, or `resource.update`, which gives one.
 */
export type DeepReadonly<T> = T extends object
  ? T extends Opaque
    ? T
    : T extends ReadonlyMap<infer Key, infer Value>
      ? ReadonlyMap<Key, DeepReadonly<Value>>
      : T extends ReadonlySet<infer Value>
        ? ReadonlySet<DeepReadonly<Value>>
        : { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
  : T;

declare const access: unique symbol;

/** Objects are given as `DeepReadonly<T>`: the default. */
export interface Immutable {
  /** Tells it from the other one. Never there. */
  readonly [access]?: "read";
}

/**
 * Objects are given as `T`, as it is: `cache.resource<Pod, Mutable>("pods")`. For code whose functions take mutable types and change
 * nothing. What it reads is shared all the same: with the cache's option `debug` it is frozen, and a change of it throws.
 */
export interface Mutable {
  /** Tells it from the other one. Never there. */
  readonly [access]?: "write";
}

/** What readers of objects `T` get. */
export type Read<T, Access = Immutable> = Access extends Mutable ? T : DeepReadonly<T>;
