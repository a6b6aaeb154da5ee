import type { Path } from "../object/path.js";

/** Gives the values of an object in an index: none, one or several. Called once for each object that arrives. It decodes the object, so a path is cheaper, and answers at once. */
export type IndexFunction<T = any> = (object: T) => readonly string[];

/** Indexes by name: each by a path, or by a function. */
export type NamedIndexes<Name extends string = string, T = any> = { readonly [Key in Name]: Path | IndexFunction<T> };
