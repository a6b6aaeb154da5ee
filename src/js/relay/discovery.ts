// Which collections the server has. The relay may hold what can be listed and watched, and is the same for all who may read it.
import { documentOf, type Upstream } from "./upstream.js";

/** A collection, as the server tells of it. */
export interface Collection {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Of its objects. */
  readonly kind: string;
  readonly namespaced: boolean;
}

/** What is known of a group's version. */
interface Known {
  readonly at: number;
  readonly collections: ReadonlyMap<string, Collection>;
}

/** So long an answer counts as new. Behind it what is known still counts, while it is asked anew. */
const FRESH_MS = 300_000;
/** What is not there may come to be: asked again after that. */
const MISSING_MS = 10_000;
/** Callers name groups at will, so what is remembered of them has an end. */
const MAX_KNOWN = 1_000;

export class Discovery {
  readonly #upstream: Upstream;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Known | undefined>>();

  /** @param warn told what keeps the relay from holding anything, which its operator can change */
  constructor(upstream: Upstream, warn: (message: string) => void) {
    this.#upstream = upstream;
    this.#warn = warn;
  }

  /** Undefined: the relay may not hold it, or cannot know. */
  async find({ group, version, resource }: { group: string; version: string; resource: string }): Promise<Collection | undefined> {
    const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    let known = this.#known.get(path);
    const age = known === undefined ? Infinity : Date.now() - known.at;
    if (age > (known?.collections.has(resource) ? FRESH_MS : MISSING_MS)) {
      const answer = this.#ask(path, group, version);
      if (!known?.collections.has(resource)) known = await answer;
    }
    return known?.collections.get(resource);
  }

  #ask(path: string, group: string, version: string): Promise<Known | undefined> {
    let asking = this.#asking.get(path);
    if (asking === undefined) {
      asking = this.#read(path, group, version).catch(() => undefined);
      this.#asking.set(path, asking);
      void asking.then((known) => {
        this.#asking.delete(path);
        if (known === undefined) return;
        this.#known.delete(path);
        this.#known.set(path, known);
        if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
      });
    }
    return asking;
  }

  /** Undefined: the server does not say now. */
  async #read(path: string, group: string, version: string): Promise<Known | undefined> {
    const nothing = { at: Date.now(), collections: new Map<string, Collection>() };
    const said = await this.#upstream.ask(path, await this.#upstream.own());
    if (said.code === 404) return nothing;
    const { resources } = (documentOf(said) ?? {}) as { resources?: readonly Record<string, unknown>[] };
    if (said.code === 401 || said.code === 403) this.#warn(`the server refuses the relay ${path} (${said.code}), so nothing of it is held`);
    if (said.code !== 200 || !Array.isArray(resources)) return undefined;
    if (!(await this.#isServersOwn(group, version))) return nothing;
    const collections = new Map<string, Collection>();
    for (const { name, kind, namespaced, verbs } of resources as readonly Record<string, unknown>[]) {
      const can = Array.isArray(verbs) ? (verbs as readonly unknown[]) : [];
      if (typeof name !== "string" || typeof kind !== "string" || !can.includes("list") || !can.includes("watch")) continue;
      collections.set(name, { group, version, resource: name, kind, namespaced: namespaced === true });
    }
    return { at: Date.now(), collections };
  }

  /**
   * Whether the server itself serves the group. Another server behind it may show each caller something else under one name and one permission,
   * as OpenShift does with projects. What the relay sees of it is nobody else's.
   */
  async #isServersOwn(group: string, version: string): Promise<boolean> {
    if (group === "") return true;
    const path = `/apis/apiregistration.k8s.io/v1/apiservices/${version}.${group}`;
    const said = await this.#upstream.ask(path, await this.#upstream.own());
    // A server without that API has no others behind it.
    if (said.code === 404) return !(await this.#hasOthers());
    if (said.code === 401 || said.code === 403)
      this.#warn(
        `the server refuses the relay ${path} (${said.code}), so nothing of that group is held: it needs the verb get on apiservices`,
      );
    const { kind, spec } = (documentOf(said) ?? {}) as { kind?: unknown; spec?: { service?: unknown } };
    return said.code === 200 && kind === "APIService" && (spec?.service ?? null) === null;
  }

  async #hasOthers(): Promise<boolean> {
    return (await this.#upstream.ask("/apis/apiregistration.k8s.io/v1", await this.#upstream.own())).code !== 404;
  }
}
