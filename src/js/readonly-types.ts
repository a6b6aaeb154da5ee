/** What is read as it stands: text, numbers, functions, and objects that are changed through methods alone. */
type Atom =
  | string
  | number
  | boolean
  | bigint
  | symbol
  | null
  | undefined
  | Date
  | RegExp
  | ArrayBuffer
  | ArrayBufferView
  | ((...values: never) => unknown);

/**
 * An object that is not its reader's to change, nor anything in it: what every read, event and handler gives, because all readers share it.
 * Arrays, tuples, maps, sets, dates, functions, unions and `unknown` are heeded; `any` stays `any`.
 *
 * To change an object, change a copy: `structuredClone(pod) as Pod`, or `resource.update`, which gives one.
 */
export type DeepReadonly<T> = unknown extends T
  ? T
  : T extends Atom
    ? T
    : T extends ReadonlyMap<infer Key, infer Value>
      ? ReadonlyMap<Key, DeepReadonly<Value>>
      : T extends ReadonlySet<infer Value>
        ? ReadonlySet<DeepReadonly<Value>>
        : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

declare const access: unique symbol;

/** Objects are given as `DeepReadonly<T>`: the default. */
export interface Immutable {
  readonly [access]?: "read";
}

/**
 * Objects are given as `T`, as it is: `cache.resource<Pod, Mutable>("pods")`. For code whose functions take mutable types and change
 * nothing. What it reads is shared all the same: with the cache's option `debug` it is frozen, and a change of it throws.
 */
export interface Mutable {
  readonly [access]?: "write";
}

/** What readers of objects `T` get. */
export type Read<T, Access = Immutable> = Access extends Mutable ? T : DeepReadonly<T>;
