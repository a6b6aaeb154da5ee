import { atOnce, isRefusal } from "../error/callbacks.js";
import { WatchCacheError } from "../error/errors.js";
import { shown } from "../options/kinds.js";
import type { RawAsked } from "../wire/raw.js";
import type { DerivedColumn, DerivedValue } from "./types.js";

/** A derived column and its name. */
export interface NamedColumn extends DerivedColumn {
  readonly name: string;
}

/** What it needs of the resource. */
export interface DeriverHost {
  /** For messages. */
  readonly name: string;
  report(error: unknown): void;
}

/** Of surrogates that are no pair no text of the core's can be made. */
const ALONE = /\p{Surrogate}/gu;

/** What is known of a function of a column. */
interface Conduct {
  /** Something was wrong with it, and that was told. */
  told: boolean;
  /** It has answered at once, so it is not async: a promise of it is one object's affair. */
  answered: boolean;
  /** It has given promises, and nothing else yet. */
  refusal: WatchCacheError | undefined;
}

/** Of the functions of each resource. A view that begins anew tells nothing again. */
const conducts = new WeakMap<DeriverHost, WeakMap<object, Conduct>>();

function conductOf(host: DeriverHost, { value }: NamedColumn): Conduct {
  const known = conducts.get(host) ?? new WeakMap<object, Conduct>();
  conducts.set(host, known);
  const conduct = known.get(value) ?? { told: false, answered: false, refusal: undefined };
  known.set(value, conduct);
  return conduct;
}

/** Calls the functions of derived columns, and tells once of each what is wrong with it. */
export class Deriver {
  readonly #columns: readonly NamedColumn[];
  readonly #host: DeriverHost;
  readonly #conductChanged: () => void;

  /** @param conductChanged called when `mistake` may be another, also that of others who have the same functions */
  constructor(columns: readonly NamedColumn[], host: DeriverHost, conductChanged: () => void) {
    this.#columns = columns;
    this.#host = host;
    this.#conductChanged = conductChanged;
  }

  /** That a function is none that answers at once, as far as its answers show. */
  get mistake(): WatchCacheError | undefined {
    return this.#columns.map((column) => conductOf(this.#host, column).refusal).find((refusal) => refusal !== undefined);
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
    const conduct = conductOf(this.#host, column);
    let value: DerivedValue;
    try {
      value = atOnce(name, column.value, column.value(fields));
      conduct.answered = true;
      this.#refuse(conduct, undefined);
    } catch (error) {
      if (isRefusal(error)) {
        if (!conduct.answered) this.#refuse(conduct, error);
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

  #refuse(conduct: Conduct, refusal: WatchCacheError | undefined): void {
    if (conduct.refusal === refusal) return;
    conduct.refusal = refusal;
    this.#conductChanged();
  }

  #invalid(message: string, cause?: unknown): WatchCacheError {
    return new WatchCacheError("invalid", message, { resource: this.#host.name, cause });
  }

  /** Once is enough: what is wrong for one object most likely is so for others. */
  #tell(column: NamedColumn, error: WatchCacheError): void {
    const conduct = conductOf(this.#host, column);
    if (conduct.told) return;
    conduct.told = true;
    this.#host.report(error);
  }
}
