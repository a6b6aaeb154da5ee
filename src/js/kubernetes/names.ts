// What a name means, by kubectl's rules: its RESTMapper and its expansion of short names.
import { WatchCacheError } from "../error/errors.js";
import { invalid, object, readable } from "../options/kinds.js";
import { nearest, read } from "../options/read.js";
import { KIND_NAME } from "./options.js";
import type { ApiResource, Discovery, DiscoveryFailure, KindSpec } from "./types.js";

/** A kind and where it stands. */
export type KindName = Pick<KindSpec, "kind" | "group" | "version" | "apiVersion">;

const VERSION = /^v[0-9]+((alpha|beta)[0-9]+)?$/;

/** The names of one server. */
export class Names implements Discovery {
  readonly resources: readonly ApiResource[];
  readonly failed: readonly DiscoveryFailure[];

  constructor(resources: readonly ApiResource[], failed: readonly DiscoveryFailure[]) {
    this.resources = Object.freeze(resources);
    this.failed = Object.freeze(failed);
    this.find = this.find.bind(this);
    Object.freeze(this);
  }

  find(name: string | KindName): ApiResource {
    if (typeof name === "string") return this.#byText(name);
    object(name, "what find is given");
    const { kind, group, version, apiVersion } = readable("what find is given", () => ({
      kind: name.kind,
      group: name.group,
      version: name.version,
      apiVersion: name.apiVersion,
    }));
    return this.#byKind(read<KindName>(KIND_NAME, "find", { kind, group, version, apiVersion }, undefined, "kind"));
  }

  #byText(text: string): ApiResource {
    if (text.trim() === "") throw invalid("find is given a name, such as deploy, and not empty text");
    const parts = text.split("/");
    if (parts.length > 1) {
      const found = this.resources.find(({ name }) => name === text);
      return found ?? this.#none(text, parts.length === 3 ? parts[0] : "");
    }
    const word = text.toLowerCase();
    const dot = word.indexOf(".");
    if (dot < 0)
      return this.#byWord(
        text,
        word,
        this.resources.filter(({ preferred }) => preferred),
      );
    const [name, rest] = [word.slice(0, dot), word.slice(dot + 1)];
    const inGroup = this.resources.filter(({ group, preferred }) => group === rest && preferred);
    if (inGroup.length > 0) return this.#byWord(text, name, inGroup, rest);
    const [version = "", ...labels] = rest.split(".");
    const group = labels.join(".");
    if (!VERSION.test(version)) return this.#none(text, rest);
    return this.#byWord(
      text,
      name,
      this.resources.filter((one) => one.group === group && one.version === version),
      group,
    );
  }

  /** A plural before a short name, and that before a singular, as in kubectl. */
  #byWord(text: string, word: string, among: readonly ApiResource[], group?: string): ApiResource {
    const rules: readonly ((one: ApiResource) => boolean)[] = [
      ({ resource }) => resource === word,
      ({ shortNames }) => shortNames.includes(word),
      ({ singular, kind }) => (singular || kind.toLowerCase()) === word,
    ];
    for (const rule of rules) {
      const found = among.filter(rule);
      if (found.length > 0)
        return only(found, JSON.stringify(text), ({ resource, group }) => (group ? `"${resource}.${group}"` : resource));
    }
    return this.#none(text, group);
  }

  #byKind({ kind, apiVersion, ...given }: KindName): ApiResource {
    let { group, version } = given;
    if (apiVersion !== undefined) {
      if (group !== undefined || version !== undefined) throw invalid("apiVersion says group and version at once: leave these out, or it");
      const slash = apiVersion.indexOf("/");
      [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
    }
    const found = this.resources.filter(
      (one) =>
        one.kind === kind &&
        (group === undefined || one.group === group) &&
        (version === undefined ? one.preferred : one.version === version),
    );
    const said = `the kind ${kind}`;
    if (found.length === 0) return this.#none(said, group);
    // Without a version one that several versions of a group have is in the preferred one.
    return only(found, said, ({ name, kind, group, version }) =>
      found.every((other) => other.group === group) ? name : `{ kind: "${kind}", apiVersion: "${group && `${group}/`}${version}" }`,
    );
  }

  #none(said: string, group: string | undefined): never {
    const broken = this.failed.filter((one) => group === undefined || one.group === group || (one.group === "*" && group !== ""));
    const names = broken.map(shownFailure).join(", ");
    if (broken.length > 0 && group !== undefined) {
      const { error } = broken[0]!;
      const message = `${said} is not known, because the server could not tell of ${names}: ${error.message}`;
      // Nobody who may not see it will be told a moment later.
      if (error.code === "forbidden") throw new WatchCacheError("forbidden", message);
      throw new WatchCacheError("unavailable", message, { retryable: true });
    }
    const word = said.replace(/^the kind /, "");
    const known = [...new Set(this.resources.flatMap(({ resource, kind, shortNames }) => [resource, kind, ...shortNames]))];
    const like = nearest(word, known);
    const hint = like === undefined ? "" : `; did you mean ${like}?`;
    const missing = names === "" ? "" : `; it could not tell of ${names}`;
    throw new WatchCacheError(
      "not-found",
      `the server has no resource for ${said}${hint}${missing}; for one that is new call await cache.discover({ refresh: true })`,
    );
  }
}

function shownFailure({ group, version }: DiscoveryFailure): string {
  if (version === undefined) return group === "" ? "the core group" : group === "*" ? "any group but the core group" : group;
  return group === "" ? version : `${group}/${version}`;
}

/** The one that is found. Of several that of the core group is meant, as by kubectl; of others nobody is preferred. @throws {WatchCacheError} `invalid`. */
function only(found: readonly ApiResource[], said: string, shown: (one: ApiResource) => string): ApiResource {
  const places = new Map(found.map((one) => [`${one.group}/${one.resource}`, one]));
  const core = [...places.values()].filter(({ group }) => group === "");
  if (places.size === 1 || core.length === 1) return (core[0] ?? found[0])!;
  throw invalid(`${said} stands for several resources: name one as ${[...places.values()].map(shown).join(" or ")}`);
}
