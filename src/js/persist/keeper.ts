import { unique } from "../language/unique.js";
import type { RawKeeper, RawKept } from "../wire/raw.js";
import { disconnect, got, type State, type StateKey, type Stores, transact, under } from "./database.js";
import { type Beginning, isForgotten } from "./epoch.js";
import { Writing } from "./writing.js";

/** The storage of one resource, while that is open. */
export class Keeper implements RawKeeper {
  readonly #key: StateKey;
  readonly #maxBytes: number;
  readonly #beginning: Beginning;
  readonly #failed: (error: unknown) => void;
  readonly #writing: Writing;
  readonly #since = Date.now();
  readonly #writer = unique();
  /** Bytes of the blocks that are there, by number. */
  #blocks = new Map<number, number>();
  /** Who wrote what is there, and when: as it was read, or written by this one. */
  #last: Pick<State, "writer" | "at"> | undefined;
  #closed = false;

  /**
   * @param beginning of the cache: all its keepers have the one
   * @param failed hears why something is not kept
   */
  constructor(key: StateKey, maxBytes: number, beginning: Beginning, failed: (error: unknown) => void) {
    this.#key = key;
    this.#maxBytes = maxBytes;
    this.#beginning = beginning;
    this.#failed = failed;
    this.#writing = new Writing(`watchcache persist ${JSON.stringify(key)}`);
  }

  async read(): Promise<RawKept | undefined> {
    // Who writes next knows what is there, unless somebody else could write after this.
    await this.#writing.first;
    return new Promise((resolve) => {
      // One transaction, so all of it is of one state. It lasts until the last block, and the head is told before.
      const whole = transact("readonly", async (stores) => {
        const [isForgotten, state] = await Promise.all([this.#isForgotten(stores), got<unknown>(stores.states.get([...this.#key]))]);
        if (isForgotten || !isState(state)) return;
        this.#last = { writer: state.writer, at: state.at };
        const asked = inBatches(state.order).map((batch) => this.#askFor(stores, batch));
        const all = Promise.all(asked);
        resolve({ head: state.head, next: async () => asked.shift() });
        await all;
      });
      whole.catch((error) => this.#tell(error)).finally(() => resolve(undefined));
    });
  }

  /** The blocks of these numbers, in their order. */
  async #askFor({ blocks }: Stores, numbers: readonly number[]): Promise<Uint8Array[]> {
    const range = (run: readonly number[]) => IDBKeyRange.bound([...this.#key, run[0]], [...this.#key, run.at(-1)]);
    const found = (await Promise.all(inRuns(numbers).map((run) => got<Uint8Array[]>(blocks.getAll(range(run)))))).flat();
    found.forEach((block, at) => this.#blocks.set(numbers[at]!, block.length));
    return found;
  }

  async turn(): Promise<boolean> {
    if (globalThis.indexedDB === undefined) throw new Error("there is no storage");
    return this.#writing.turn();
  }

  async write(...[head, numbers, blocks, order, removed, isWhole]: Parameters<RawKeeper["write"]>): Promise<void> {
    // A page that was away may have lost its turn. What is there then is not known, and all of it is written.
    const wasHeld = this.#writing.isHeld;
    await this.#writing.turn();
    if (!wasHeld && !isWhole) throw new Error("somebody else may have written");
    const all = new Map(isWhole ? [] : this.#blocks);
    for (const number of removed) all.delete(number);
    numbers.forEach((number, at) => all.set(number, blocks[at]!.length));
    const bytes = [...all.values()].reduce((sum, length) => sum + length, head.length);
    const state: State = { head, order, bytes, at: Date.now(), writer: this.#writer };
    try {
      await transact("readwrite", async (stores) => {
        if (await this.#isForgotten(stores)) throw new Forgotten();
        if (!isWhole && !(await this.#isAsLeft(stores))) throw new Changed();
        await this.#makeRoom(stores, bytes);
        if (isWhole) stores.blocks.delete(under(...this.#key));
        for (const number of removed) stores.blocks.delete([...this.#key, number]);
        numbers.forEach((number, at) => stores.blocks.put(blocks[at], [...this.#key, number]));
        stores.states.put(state, [...this.#key]);
      });
      this.#blocks = all;
      this.#last = { writer: state.writer, at: state.at };
    } catch (error) {
      // Who forgot wants it so.
      if (error instanceof Forgotten) this.close();
      else if (!(error instanceof Changed)) {
        this.#tell(error);
        // Somebody with more room may do better.
        this.#writing.yield();
      }
      throw error;
    }
  }

  /** The page may be kept for the way back: only one that holds no lock is, and no database. */
  suspend(): void {
    this.#writing.suspend();
    disconnect();
  }

  /** It is awake. */
  wake(): void {
    this.#writing.wake();
  }

  close(): void {
    this.#closed = true;
    this.#writing.close();
  }

  /** Whether the identity was forgotten since its cache began. */
  async #isForgotten({ epochs }: Stores): Promise<boolean> {
    const epoch = (await got<number | undefined>(epochs.get(this.#key[0]))) ?? 0;
    this.#beginning.epoch ??= epoch;
    return isForgotten(this.#beginning, epoch);
  }

  /** Whether nobody else has written or removed what this one knows. Somebody may have needed the room, or have cleared the storage. */
  async #isAsLeft({ states }: Stores): Promise<boolean> {
    const state = await got<State | undefined>(states.get([...this.#key]));
    return state?.writer === this.#last?.writer && state?.at === this.#last?.at;
  }

  /** Removes what nobody has written since this one began, the oldest first, until so many bytes fit. */
  async #makeRoom({ states, blocks }: Stores, bytes: number): Promise<void> {
    const range = under(this.#key[0]);
    const [keys, kept] = await Promise.all([got(states.getAllKeys(range)), got<unknown[]>(states.getAll(range))]);
    const all = kept.map((state, at) => ({ state, key: keys[at] as unknown as StateKey }));
    for (const { state, key } of all) {
      if (isState(state)) continue;
      states.delete([...key]);
      blocks.delete(under(...key));
    }
    const others = all
      .filter((other): other is { state: State; key: StateKey } => other.key[1] !== this.#key[1] && isState(other.state))
      .sort((a, b) => a.state.at - b.state.at);
    let total = others.reduce((sum, { state }) => sum + state.bytes, bytes);
    for (const { state, key } of others) {
      if (total <= this.#maxBytes || state.at >= this.#since) break;
      states.delete([...key]);
      blocks.delete(under(...key));
      total -= state.bytes;
    }
    if (total > this.#maxBytes) throw new Error(`it would take ${total} bytes, and maxBytes is ${this.#maxBytes}`);
  }

  #tell(error: unknown): void {
    if (!this.#closed) this.#failed(error);
  }
}

/** Whether it is one of ours. Scripts of the page, or somebody's hand, may have written there. */
function isState(state: unknown): state is State {
  const { head, order, bytes, at } = (state ?? {}) as Partial<Record<keyof State, unknown>>;
  return head instanceof Uint8Array && order instanceof Uint32Array && typeof bytes === "number" && typeof at === "number";
}

/** Blocks that are read at once: few at first, because rows wait for them. */
const BATCHES = [1, 7];
const MAX_BATCH = 32;

function inBatches(order: Uint32Array): number[][] {
  const batches: number[][] = [];
  for (let from = 0; from < order.length;) {
    const to = from + (BATCHES[batches.length] ?? MAX_BATCH);
    batches.push([...order.subarray(from, to)]);
    from = to;
  }
  return batches;
}

/** Numbers in which each follows the one before it. A storage gives such a run at once. */
function inRuns(numbers: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1)! + 1 === number) run.push(number);
    else runs.push([number]);
  }
  return runs;
}

/** The identity was forgotten since this page began. */
class Forgotten extends Error {}

/** What is there is not what this one left. All of it is written next. */
class Changed extends Error {}
