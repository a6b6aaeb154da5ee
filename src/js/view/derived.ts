import { atOnce, isRefusal, type Report } from "../error/callbacks.js";
import { WatchCacheError } from "../error/errors.js";
import { shown } from "../options/kinds.js";
import type { RawAsked } from "../wire/raw.js";
import type { DerivedColumn, DerivedValue } from "./types.js";

/** A derived column and its name. */
export interface NamedColumn extends DerivedColumn {
  readonly name: string;
}

/** Of surrogates that are no pair no text of the core's can be made. */
const ALONE = /\p{Surrogate}/gu;

/** Calls the functions of derived columns, and tells once of each what is wrong with it. */
export class Deriver {
  readonly #columns: readonly NamedColumn[];
  readonly #resource: string;
  readonly #report: Report;
  /** Names of columns of which was told. */
  readonly #told = new Set<string>();
  /** That a function is none that answers at once. */
  mistake: WatchCacheError | undefined;

  /** @param resource for messages */
  constructor(columns: readonly NamedColumn[], resource: string, report: Report) {
    this.#columns = columns;
    this.#resource = resource;
    this.#report = report;
  }

  /**
   * The values for what the core asks, one after the other as long as `goesOn` says so: for the first always.
   *
   * @param goesOn asked after each call: a function of a user's may take long, and may do anything
   */
  answer(asked: readonly RawAsked[], goesOn: () => boolean): (string | number | boolean | null)[] {
    const values: (string | number | boolean | null)[] = [];
    for (const [at, key, fields, missing] of asked) {
      for (const place of missing) fields[place] = undefined;
      values.push(this.#call(this.#columns[at]!, key, fields) ?? null);
      if (!goesOn()) break;
    }
    return values;
  }

  /** The value for one object; null where the function gives none that can be shown and ordered. */
  #call(column: NamedColumn, key: string, fields: readonly unknown[]): DerivedValue {
    const name = `derive.${column.name}`;
    let value: DerivedValue;
    try {
      value = atOnce(name, column.value, column.value(fields));
    } catch (error) {
      if (isRefusal(error)) {
        this.mistake = error;
        this.#tell(column, error);
      } else {
        const message = `${name} threw for ${key}, where it has no value now: return undefined yourself where there is none`;
        this.#tell(column, this.#invalid(message, error));
      }
      return null;
    }
    if (typeof value === "string") return value.replace(ALONE, "\ufffd");
    if (typeof value === "boolean" || value === undefined || value === null || Number.isFinite(value)) return value;
    const remedy = "return text, a finite number, true or false, or undefined where there is none";
    this.#tell(column, this.#invalid(`${name} gave ${shown(value)} for ${key}, where it has no value now: ${remedy}`));
    return null;
  }

  #invalid(message: string, cause?: unknown): WatchCacheError {
    return new WatchCacheError("invalid", message, { resource: this.#resource, cause });
  }

  /** Once is enough: what is wrong for one object most likely is so for others. */
  #tell({ name }: NamedColumn, error: WatchCacheError): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#report(error);
  }
}
