/**
 * The types of objects by the text that names their resource. Empty here: augment it, and `cache.resource("pods")` knows what pods are.
 * `npx watchcache types` writes that for a cluster, with its custom resources.
 *
 * ```ts
 * declare module "watchcache" {
 *   interface ResourceTypes {
 *     pods: Pod;
 *     "example.com/v1/widgets": Widget;
 *   }
 * }
 * ```
 */
export interface ResourceTypes {}

/** One Kubernetes resource. `namespace` and the selectors narrow the upstream stream itself. */
export interface ResourceSpec {
  /** The API group; none for the core group. */
  group?: string | undefined;
  /** Such as `v1`. */
  version: string;
  /** The plural name, such as `pods`. */
  resource: string;
  /** One namespace alone. */
  namespace?: string | undefined;
  /** Only objects with such labels. */
  labelSelector?: string | undefined;
  /** Only objects with such fields, of those that the server offers. */
  fieldSelector?: string | undefined;
}
