// The side of a server that is asked and not watched: what it has, and what one may.
import { toError } from "../error/errors.js";
import { invalid, readable } from "../options/kinds.js";
import { read } from "../options/read.js";
import { SPEC } from "../upstream/options.js";
import { fromText } from "../upstream/spec.js";
import type { ResourceSpec } from "../upstream/types.js";
import { Access } from "./access.js";
import { discover } from "./discovery.js";
import type { Names } from "./names.js";
import { ACCESS, DISCOVER, KIND } from "./options.js";
import { abandonable, Asker, type Server } from "./request.js";
import type { AccessAnswer, AccessQuestion, ApiResource, DiscoverOptions, Discovery, KindSpec } from "./types.js";

/** What the core group has, which nobody can add to: these words mean the same before discovery, and whatever else it finds. */
const CORE = new Set(
  "bindings componentstatuses configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services".split(
    " ",
  ),
);
/** A resource as a right has it: `*` is every one. */
const PLURAL = /^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/;
const WORD = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/i;

/** One server. */
export class Api {
  readonly #asker: Asker;
  readonly #access: Access;
  #names: Names | undefined;
  #asking: Promise<Names> | undefined;
  /** For those who want to know what is new since that began. */
  #next: Promise<Names> | undefined;

  constructor(server: Server) {
    this.#asker = new Asker(server);
    this.#access = new Access(this.#asker);
  }

  async discover(given?: DiscoverOptions): Promise<Discovery> {
    const { refresh = false, signal } = read(DISCOVER, "discover", given);
    if (this.#names !== undefined && !refresh) return abandonable(Promise.resolve(this.#names), signal);
    return abandonable(refresh ? this.#anew() : this.#asked(), signal);
  }

  async can(given: AccessQuestion): Promise<AccessAnswer> {
    const { verb, resource, path, signal, ...rest } = read(ACCESS, "can", given, undefined, "verb");
    if ((resource === undefined) === (path === undefined)) throw invalid("can is asked about a resource, or about a path in place of it");
    if (path !== undefined) {
      if (Object.keys(rest).length > 0) throw invalid(`a path has no ${Object.keys(rest)[0]}`);
      return abandonable(this.#access.ask({ nonResourceAttributes: { path, verb } }), signal);
    }
    const resourceAttributes = { verb, ...readable("resource", () => this.#attributes(resource!)), ...rest };
    return abandonable(this.#access.ask({ resourceAttributes }), signal);
  }

  /** A spec that names its group, version and plural: of a kind or a name what discovery knows. @throws {WatchCacheError} `invalid`, `not-found`, `unavailable`. */
  resolve(spec: string | ResourceSpec | KindSpec): string | ResourceSpec {
    if (typeof spec === "string") {
      if (spec.includes("/") || CORE.has(spec) || !WORD.test(spec)) return spec;
      const { group, version, resource } = this.#known(`"${spec}" is no resource of v1`).find(spec);
      return { group, version, resource };
    }
    if (typeof spec !== "object" || spec === null || !("kind" in spec)) return spec as ResourceSpec;
    const { kind, group, version, apiVersion, ...rest } = read(KIND, "resource", spec, undefined, "kind");
    const found = this.#known(`the kind ${kind} is not known yet`).find({ kind, group, version, apiVersion });
    const scope = rest.namespace ? "namespace" : rest.namespaces && "namespaces";
    if (scope && !found.namespaced) throw invalid(`${kind} lies in no namespace: leave ${scope} out`);
    return { group: found.group, version: found.version, resource: found.resource, ...rest };
  }

  close(): void {
    this.#asker.close();
  }

  #attributes(resource: NonNullable<AccessQuestion["resource"]>): Pick<ResourceSpec, "group" | "resource"> & { version?: string } {
    if (resource === "*") return { group: "*", resource: "*" };
    const spec = this.resolve(
      typeof resource === "object" && !("kind" in resource) ? read(SPEC, "resource", resource as ResourceSpec) : (resource as KindSpec),
    );
    const { group = "", version, resource: plural } = typeof spec === "string" ? fromText(spec) : spec;
    if (plural === undefined) throw invalid("resource.resource is missing: it is the plural name in lower case, such as pods");
    if (!PLURAL.test(plural)) throw invalid(`"${plural}" is no resource: it is the plural name in lower case, such as pods`);
    return { group, version, resource: plural };
  }

  #known(what: string): { find(name: Parameters<Names["find"]>[0]): ApiResource } {
    if (this.#names !== undefined) return this.#names;
    throw invalid(`${what}: call await cache.discover() first, or name it with its group and version, as "apps/v1/deployments"`);
  }

  #asked(): Promise<Names> {
    return (this.#asking ??= this.#discover());
  }

  /** The server may have answered what is on its way before it had what the caller looks for. */
  #anew(): Promise<Names> {
    if (this.#asking === undefined) return this.#asked();
    const ask = () => {
      this.#next = undefined;
      return this.#asked();
    };
    return (this.#next ??= this.#asking.then(ask, ask));
  }

  async #discover(): Promise<Names> {
    try {
      return (this.#names = await discover(this.#asker));
    } catch (error) {
      throw toError(error);
    } finally {
      this.#asking = undefined;
    }
  }
}
