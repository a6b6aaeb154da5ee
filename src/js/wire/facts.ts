import { toError } from "../error/errors.js";
import type { RawResource } from "./raw.js";

/** Paths that are read together. With more, who reads one of them would pay for many. */
const MAX_PATHS = 8;
/** Events after which the paths that nobody has read of them are left out. */
const EVENTS_A_REVIEW = 64;

/** What is read of event after event. The core is told of these paths, and gives their values along with an event's version and key. */
export class ReadPaths {
  readonly #raw: RawResource;
  #paths: readonly string[] = [];
  /** A bit for each of them that was read. */
  #read = 0;
  /** Events since the paths were looked through. */
  #events = 0;
  readonly #learned = new Set<string>();

  constructor(raw: RawResource) {
    this.#raw = raw;
  }

  /** Of the object of an id. The version is its own, or that of the event which told of it: they differ in a resource of several namespaces. */
  facts(id: number, ofEvent: boolean): Facts {
    this.#events += 1;
    if (this.#learned.size > 0 || this.#events > EVENTS_A_REVIEW) this.#review();
    const told = this.ask((raw) => raw.facts(id, ofEvent));
    if (this.#paths.length === 0) return new Facts(this, id, this.#paths, [told]);
    const row = JSON.parse(told) as [names: string, ...values: unknown[]];
    for (const at of (row[this.#paths.length + 1] ?? []) as number[]) row[at + 1] = undefined;
    return new Facts(this, id, this.#paths, row);
  }

  /** A value at one of these paths was read. */
  wasRead(paths: readonly string[], at: number): void {
    if (paths === this.#paths) this.#read |= 1 << at;
  }

  /** A path of which the core was not told was read. */
  learn(path: string): void {
    if (this.#learned.size < MAX_PATHS) this.#learned.add(path);
  }

  ask<V>(read: (raw: RawResource) => V): V {
    try {
      return read(this.#raw);
    } catch (error) {
      throw toError(error);
    }
  }

  #review(): void {
    const isOver = this.#events > EVENTS_A_REVIEW;
    const kept = this.#paths.filter((_, at) => !isOver || (this.#read & (1 << at)) !== 0);
    const paths = [...kept, ...this.#learned].slice(0, MAX_PATHS);
    this.#learned.clear();
    if (isOver) this.#events = this.#read = 0;
    if (paths.length === this.#paths.length && kept.length === paths.length) return;
    this.ask((raw) => raw.columns(paths));
    this.#read = 0;
    this.#events = 0;
    this.#paths = paths;
  }
}

/** Version, key and fields of one object. */
export class Facts {
  readonly version: string;
  readonly key: string;
  readonly #source: ReadPaths;
  readonly #id: number;
  readonly #paths: readonly string[];
  /** From its second place on, the values at the paths. */
  readonly #row: readonly [names: string, ...values: unknown[]];
  /** Of further paths. */
  #more: Map<string, unknown> | undefined;

  constructor(source: ReadPaths, id: number, paths: readonly string[], row: readonly [names: string, ...values: unknown[]]) {
    this.#source = source;
    this.#id = id;
    this.#paths = paths;
    this.#row = row;
    const [names] = row;
    const space = names.indexOf(" ");
    this.version = names.slice(0, space);
    this.key = names.slice(space + 1);
  }

  /** The value at a path. What is no scalar is a new value for each. */
  get(path: string): unknown {
    const at = this.#paths.indexOf(path);
    const known = at >= 0 ? this.#row[at + 1] : this.#more?.get(path);
    if (at >= 0 && (typeof known !== "object" || known === null)) {
      this.#source.wasRead(this.#paths, at);
      return known;
    }
    if (at < 0 && known !== undefined) return known;
    const value = this.#source.ask((raw) => raw.field(this.#id, path));
    if (at < 0 && (typeof value !== "object" || value === null)) {
      (this.#more ??= new Map()).set(path, value);
      this.#source.learn(path);
    }
    return value;
  }
}
