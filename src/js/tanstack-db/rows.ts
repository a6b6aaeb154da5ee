import type { ObjectLike } from "../object/metadata.js";

/** What a collection's sync offers to write rows. */
export interface Writer<Row> {
  begin(): void;
  write(message: { type: "insert" | "update"; value: Row } | { type: "delete"; key: string }): void;
  commit(): true | Promise<void>;
}

interface Held<Row> {
  row: Row;
  /** Subsets that show it. */
  count: number;
}

/**
 * The rows that a collection was told of, by key. Several subsets may show one row: it comes with the first and goes with the last. What one
 * flush changed in a subset is one transaction.
 */
export class Rows<Row extends object> {
  readonly #writer: Writer<Row>;
  readonly #held = new Map<string, Held<Row>>();
  readonly #keys: WeakMap<object, string>;
  readonly #waiting = new Set<() => void>();
  /**
   * Keys whose deletion is told and does not show yet: TanStack DB holds back what comes while a write of the user is under way. Older cores take
   * no insert of such a key.
   */
  readonly #leaving = new Set<string>();

  /** @param keys takes the key of each row, for the collection's `getKey` */
  constructor(writer: Writer<Row>, keys: WeakMap<object, string>) {
    this.#writer = writer;
    this.#keys = keys;
  }

  get(key: string): Row | undefined {
    return this.#held.get(key)?.row;
  }

  /** Leads a subset from the rows that it showed to others. @returns whether its rows are visible, or when they are */
  replace(before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): true | Promise<void> {
    const { begin, write, commit } = this.#writer;
    const deleted: string[] = [];
    let isOpen = false;
    const say = (message: Parameters<Writer<Row>["write"]>[0]) => {
      if (!isOpen) begin();
      isOpen = true;
      write(message);
    };
    for (const key of before.keys()) {
      if (after.has(key)) continue;
      const held = this.#held.get(key)!;
      if (--held.count > 0) continue;
      this.#held.delete(key);
      deleted.push(key);
      say({ type: "delete", key });
    }
    for (const [key, row] of after) {
      const held = this.#held.get(key);
      this.#keys.set(row, key);
      if (held === undefined) {
        this.#held.set(key, { row, count: 1 });
        say({ type: this.#leaving.has(key) ? "update" : "insert", value: row });
        continue;
      }
      if (!before.has(key)) held.count++;
      if (held.row === row) continue;
      held.row = row;
      say({ type: "update", value: row });
    }
    const receipt = isOpen ? commit() : true;
    if (receipt instanceof Promise && deleted.length > 0) this.#holdBack(deleted, receipt);
    for (const look of [...this.#waiting]) look();
    return receipt;
  }

  #holdBack(keys: readonly string[], receipt: Promise<void>): void {
    for (const key of keys) this.#leaving.add(key);
    const done = () => {
      for (const key of keys) this.#leaving.delete(key);
    };
    receipt.then(done, done);
  }

  /** A row that the user has made is not among those that are held: older cores show it until they are told so. */
  disown(key: string): void {
    if (this.#held.has(key)) return;
    const { begin, write, commit } = this.#writer;
    begin();
    write({ type: "delete", key });
    void commit();
  }

  /** Resolves when the rows hold what a write made, or after `ms`: what the filter leaves out never comes. */
  until(holds: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const look = () => {
        if (holds()) done();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(look);
      look();
    });
  }
}

/** The resourceVersion of an object, as far as it says one. */
export function versionOf(object: unknown): string {
  return (object as ObjectLike | undefined)?.metadata?.resourceVersion ?? "";
}

/** Whether a version is another one or newer: decimal numbers of any length, as text. */
export function reaches(version: string, wanted: string): boolean {
  return version.length === wanted.length ? version >= wanted : version.length > wanted.length;
}
