import { Failure } from "./fail.js";

/** A JSON Schema, as far as it is looked at here. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  default?: unknown;
  nullable?: boolean;
  enum?: unknown[];
  properties?: { [name: string]: Schema };
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  required?: string[];
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
}

interface Operation {
  "x-kubernetes-action"?: string;
  responses?: { [code: string]: { content?: { [type: string]: { schema?: Schema } } } };
}

/** One document of `/openapi/v3`: one version of an API group. */
export interface OpenApi {
  paths?: { [path: string]: { get?: Operation } };
  components?: { schemas?: { [name: string]: Schema } };
}

/** The documents of all API groups. */
export async function readDocuments(server: string, token: string | undefined): Promise<OpenApi[]> {
  const ask = asker(server, token);
  const index = (await ask("/openapi/v3")) as { paths?: { [name: string]: { serverRelativeURL?: string } } };
  if (typeof index.paths !== "object" || index.paths === null) {
    throw new Failure(`${server}/openapi/v3 is no index of OpenAPI documents: is this a Kubernetes API server?`);
  }
  const urls = Object.entries(index.paths)
    .filter(([name]) => /^(api|apis\/[^/]+)\/v[^/]+$/.test(name))
    .map(([name, { serverRelativeURL }]) => serverRelativeURL ?? `/openapi/v3/${name}`);
  // A few at a time: each is made when it is asked for.
  const documents: OpenApi[] = [];
  for (let from = 0; from < urls.length; from += 4) {
    documents.push(...((await Promise.all(urls.slice(from, from + 4).map(ask))) as OpenApi[]));
  }
  return documents;
}

function asker(server: string, token: string | undefined): (path: string) => Promise<unknown> {
  let base: URL;
  try {
    base = new URL(server);
  } catch {
    throw new Failure(`--server is no URL: ${server}`);
  }
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw new Failure(`--server is a URL of http or https, not of ${base.protocol}`);
  const headers = { accept: "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  return async (path) => {
    const url = base.origin + base.pathname.replace(/\/+$/, "") + path;
    let answer: Response;
    try {
      answer = await fetch(url, { headers });
    } catch (error) {
      throw new Failure(`${url} cannot be reached: ${reason(error)}`);
    }
    if (!answer.ok) throw new Failure(`${url} answered ${answer.status}: ${REMEDIES[answer.status] ?? "see the server's log"}`);
    try {
      return await answer.json();
    } catch {
      throw new Failure(`${url} answered no JSON: is this a Kubernetes API server, and not a page that asks to sign in?`);
    }
  };
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: "give a token, by --token or by the environment variable WATCHCACHE_TOKEN",
  403: "the user may not read /openapi/v3; the cluster role system:discovery allows it",
  404: "this server has no OpenAPI v3, which Kubernetes serves since 1.24",
};

/** `fetch failed` says nothing; its cause does. */
function reason(error: unknown): string {
  const cause = (error as { cause?: { message?: string; code?: string } }).cause;
  const code = cause?.code ?? "";
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code))
    return `its certificate is not trusted (${code}): name its authority by NODE_EXTRA_CA_CERTS=ca.crt`;
  return cause?.message || code || (error as Error).message;
}
