import type { Immutable } from "../object/readonly.js";
import type { View, ViewSnapshot } from "../view/types.js";
import { EMPTY } from "../view/empty.js";
import type { LiveView } from "./types.js";

const NONE: LiveView<never, any> = Object.freeze({ ...EMPTY, view: undefined, setWindow: () => {} });

/** What is shown where there is no view. */
export const nothing = <R, Access>(): LiveView<R, Access> => NONE as LiveView<R, Access>;

/**
 * A view that a component wants, and the one that it shows until the wanted one is loaded. It belongs to one pair: another pair is another
 * object, so a render that is discarded has changed nothing.
 */
export class Followed<R, Access = Immutable> {
  readonly #wanted: View<R, Access> | undefined;
  readonly #before: View<R, Access> | undefined;
  #subscribers = 0;
  #isSettled = false;
  /** What the last answer was made of, and the answer. */
  #made: { readonly wanted: unknown; readonly before: unknown; readonly live: LiveView<R, Access> } | undefined;

  readonly #waits: boolean;

  /**
   * @param before the one that was shown, if it is another
   * @param waits whether a render waits for the wanted view, so that it is opened by that
   */
  constructor(wanted: View<R, Access> | undefined, before: View<R, Access> | undefined, waits: boolean) {
    this.#waits = waits;
    this.#wanted = wanted ?? before;
    this.#before = before === wanted || wanted === undefined ? undefined : before;
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#subscribers++;
    const ends = [this.#wanted?.subscribe(onChange), this.#isSettled ? undefined : this.#before?.subscribe(onChange)];
    return () => {
      this.#subscribers--;
      for (const end of ends) end?.();
    };
  };

  /** The wanted view is on the screen, so the one before is not needed any more: not even for `linger`. */
  settle(): void {
    if (this.#before === undefined || this.#isSettled || this.getSnapshot().view !== this.#wanted) return;
    this.#isSettled = true;
    this.#before.close();
  }

  readonly getSnapshot = (): LiveView<R, Access> => {
    if (this.#wanted === undefined) return nothing();
    const wanted = this.#wantedSnapshot();
    if (this.#before === undefined || this.#isSettled || wanted.loaded) return this.#remember(wanted, undefined, this.#wanted, wanted);
    const before = this.#before.getSnapshot();
    // The rows of before, and of the wanted view what is known of it. A refused spec keeps what it cannot replace.
    const { error } = wanted;
    const isRefused = error?.code === "invalid";
    const shown = { ...before, loaded: isRefused && before.loaded, ...(error && { error }) };
    return this.#remember(wanted, before, this.#before, shown);
  };

  /** What a server renders, and the render that takes it over. */
  readonly getServerSnapshot = (): LiveView<R, Access> => nothing();

  /**
   * While another view is shown, the wanted one opens nothing before it is subscribed to. A text that is typed makes one for each letter, and
   * most of those are never looked at.
   */
  #wantedSnapshot(): ViewSnapshot<R, Access> {
    const wanted = this.#wanted!;
    return this.#waits || this.#before === undefined || this.#subscribers > 0 ? wanted.getSnapshot() : wanted.getServerSnapshot();
  }

  #remember(wanted: unknown, before: unknown, view: View<R, Access>, snapshot: ViewSnapshot<R, Access>): LiveView<R, Access> {
    const made = this.#made;
    if (made !== undefined && made.wanted === wanted && made.before === before) return made.live;
    const live = Object.freeze({ ...snapshot, view, setWindow: view.setWindow });
    this.#made = { wanted, before, live };
    return live;
  }
}
