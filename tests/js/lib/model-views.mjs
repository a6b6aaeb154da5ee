// The views of the model cacher (model.mjs): each stands still between two calls of `viewSync`, as those of the core do.

/** The functions of the raw boundary that are about views. `store` is what the model holds. */
export class ModelViews {
  #store;
  #views = new Map();
  #ranges = new Map();
  #changed = new Set();
  #next = 1;

  /** @param store `{ ids(), pin(id), unpin(id), value(id), key(id), synced() }`, where `ids` are in the order of keys */
  constructor(store, matches) {
    this.#store = store;
    this.matches = matches;
  }

  open(spec) {
    const id = this.#next++;
    this.#views.set(id, { spec: { ...spec }, verdicts: new Map(), state: [], loaded: false });
    this.viewSync(id);
    return id;
  }

  /** Whether something that it shows is another. */
  viewSync(id) {
    const view = this.#views.get(id);
    this.#changed.delete(id);
    const state = this.#rows(view);
    const loaded = this.#store.synced() && (!view.spec.predicate || this.#candidates(view).every((entry) => view.verdicts.has(entry)));
    const changed = loaded !== view.loaded || state.length !== view.state.length || state.some((entry, i) => entry !== view.state[i]);
    for (const entry of state) this.#store.pin(entry);
    for (const entry of view.state) this.#store.unpin(entry);
    Object.assign(view, { state, loaded });
    return changed;
  }

  viewRange(view, offset, limit) {
    const id = this.#next++;
    this.#ranges.set(id, { view, offset, limit });
    return id;
  }

  viewMove(range, offset, limit) {
    Object.assign(this.#ranges.get(range), { offset, limit });
  }

  viewRangeClose(range) {
    this.#ranges.delete(range);
  }

  viewRows(range) {
    const { view, offset, limit } = this.#ranges.get(range);
    return Float64Array.from(this.#views.get(view).state.slice(offset, offset + limit), (entry) => this.#store.pin(entry));
  }

  viewTotal(id) {
    return this.#views.get(id).state.length;
  }

  viewCounts(id) {
    const { spec, state } = this.#views.get(id);
    const counts = new Map();
    for (const entry of state) {
      const value = String(at(this.#store.value(entry), spec.groupBy) ?? "");
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return [...counts].flat();
  }

  viewIndexOf(id, key) {
    return this.#keys(id).indexOf(key);
  }

  viewKeys(id) {
    return this.#keys(id)
      .map((key) => `${key}%`)
      .join("");
  }

  viewLoaded(id) {
    return this.#views.get(id).loaded;
  }

  viewError() {
    return undefined;
  }

  viewUndecided(id) {
    const view = this.#views.get(id);
    const ids = this.#candidates(view).filter((entry) => !view.verdicts.has(entry));
    return Float64Array.from(ids, (entry) => this.#store.pin(entry));
  }

  viewDecide(id, ids, verdicts) {
    ids.forEach((entry, i) => this.#views.get(id)?.verdicts.set(entry, verdicts[i] === 1));
    if (this.#views.has(id)) this.#changed.add(id);
  }

  viewClose(id) {
    for (const entry of this.#views.get(id).state) this.#store.unpin(entry);
    this.#views.delete(id);
    this.#changed.delete(id);
  }

  allChanged() {
    for (const id of this.#views.keys()) this.#changed.add(id);
  }

  /** The views that are to be named in this flush. */
  take() {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  #keys(id) {
    return this.#views.get(id).state.map((entry) => this.#store.key(entry));
  }

  #candidates({ spec }) {
    // Of a search it knows the words that are looked for in keys.
    const words = spec.search?.text.toLowerCase().split(" ") ?? [];
    const found = (entry) => words.every((word) => this.#store.key(entry).toLowerCase().includes(word));
    const ids = this.#store.ids().filter((entry) => this.matches(this.#store.value(entry), spec) && found(entry));
    const order = spec.orderBy?.[0];
    if (order === undefined) return ids;
    const value = (entry) => at(this.#store.value(entry), order.path);
    // What is missing comes last in both directions.
    const missing = (entry) => Number(value(entry) === undefined);
    return ids.sort((a, b) => missing(a) - missing(b) || compare(value(a), value(b)) * (order.descending ? -1 : 1));
  }

  #rows(view) {
    return this.#candidates(view).filter((entry) => !view.spec.predicate || view.verdicts.get(entry) === true);
  }
}

const at = (object, path) => path.split(".").reduce((part, name) => part?.[name], object);

export function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
