import { Failure } from "./fail.js";
import { readDocuments } from "./openapi.js";
import { asJsonSchema, resourcesOf } from "./schemas.js";

/** What `watchcache types` was asked for. */
export interface TypesRequest {
  readonly server: string;
  readonly token: string | undefined;
  readonly comments: boolean;
  /** Says what a person wants to know beside the output. */
  tell(message: string): void;
}

/** A module that declares the types of all resources of a cluster. */
export async function types({ server, token, comments, tell }: TypesRequest): Promise<string> {
  // First: without it, nothing needs to be asked.
  const compile = await generator();
  const found = resourcesOf(await readDocuments(server, token));
  if (found.resources.size === 0) throw new Failure(`${server} names no resource in /openapi/v3: is this a Kubernetes API server?`);
  const declarations = await compile(asJsonSchema(found, comments), "ClusterResources", {
    bannerComment: "",
    additionalProperties: false,
    unknownAny: true,
    format: true,
    // References within the schema are all there are: nothing is read from elsewhere.
    $refOptions: { resolve: { file: false, http: false } },
  });
  tell(`watchcache: ${found.resources.size} resources of ${server}`);
  return `${BANNER}\n${declarations}`;
}

const BANNER = `// Written by "watchcache types": the resources of a cluster, by the names that cache.resource() takes. Write it anew rather than change it.
declare module "watchcache" {
  interface ResourceTypes extends ClusterResources {}
}
`;

/** What is used of json-schema-to-typescript. Its own declarations do not compile under the strictest of settings. */
type Compile = (schema: object, name: string, options: object) => Promise<string>;

async function generator(): Promise<Compile> {
  // Named where no bundler and no compiler looks: it is there for those alone who call this.
  const name = "json-schema-to-typescript";
  try {
    return ((await import(name)) as { compile: Compile }).compile;
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Failure(`the types are made by ${name}, which is not installed: npm install --save-dev ${name}`);
  }
}
