import type { Runtime } from "./instance.js";
import type { Loading } from "./loader.js";

/** A resource's wait for the page's WebAssembly: from its first use until that is there, or nobody uses the resource any more. */
export class Wanting {
  readonly #runtime: Runtime;
  readonly #onChange: (loading: Loading) => void;
  readonly #waiting: (() => void)[] = [];
  #end: (() => void) | undefined;

  /** @param onChange called when it has come further, or has failed */
  constructor(runtime: Runtime, onChange: (loading: Loading) => void) {
    this.#runtime = runtime;
    this.#onChange = onChange;
  }

  /** How far it has come, while this waits for it. */
  get state(): Loading | undefined {
    return this.#end && this.#runtime.loading;
  }

  /** Waits, from now on, and tells where that stands; later again only when it has failed, for those who have come since. */
  begin(): void {
    if (this.#end !== undefined && this.#runtime.loading.phase !== "failed") return;
    this.#end ??= this.#runtime.want(() => this.#onChange(this.#runtime.loading));
    this.#onChange(this.#runtime.loading);
  }

  /** Waits no longer. */
  end(): void {
    this.#end?.();
    this.#end = undefined;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when it waits no longer, for whatever reason. */
  async over(): Promise<void> {
    if (this.#end !== undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
