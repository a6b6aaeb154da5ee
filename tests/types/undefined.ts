// To give `undefined` is to leave an option out, for those who compile with `exactOptionalPropertyTypes`, too.
import { createInformerFactory, createWatchCache, waitForSync } from "watchcache";
import type {
  Credentials,
  DeleteOptions,
  GetOptions,
  HandlerOptions,
  HistoryOptions,
  InformerFactoryOptions,
  InformerOptions,
  KubeObject,
  ListOptions,
  ResourceSpec,
  ViewOrder,
  ViewSpec,
  WaitOptions,
  WatchCacheOptions,
  WatchOptions,
  WriteOptions,
} from "watchcache";

type OptionalKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
/** Whether each optional member takes `undefined`. */
type Lenient<T> = { [K in OptionalKeys<T>]: undefined } extends Pick<T, OptionalKeys<T>> ? true : false;
declare function lenient<T>(..._: Lenient<T> extends true ? [] : [never]): void;

lenient<Credentials>();
lenient<DeleteOptions>();
lenient<NonNullable<DeleteOptions["preconditions"]>>();
lenient<GetOptions>();
lenient<HandlerOptions<KubeObject>>();
lenient<HistoryOptions>();
lenient<InformerFactoryOptions>();
lenient<InformerOptions<KubeObject>>();
lenient<ListOptions>();
lenient<ResourceSpec>();
lenient<ViewOrder>();
lenient<ViewSpec<KubeObject>>();
lenient<WaitOptions>();
lenient<WatchCacheOptions>();
lenient<NonNullable<WatchCacheOptions["memory"]>>();
lenient<NonNullable<WatchCacheOptions["retry"]>>();
lenient<WatchOptions>();
lenient<WriteOptions>();
// The check can fail.
interface Strict {
  value?: string;
}
// @ts-expect-error: it takes none
lenient<Strict>();

declare const signal: AbortSignal | undefined;
declare const namespace: string | undefined;
const cache = createWatchCache({
  server: undefined,
  indexes: undefined,
  retry: { capMs: undefined },
  memory: { maxBytes: undefined },
  signal,
});
const pods = cache.resource({ version: "v1", resource: "pods", namespace });
void pods.synced({ signal });
void pods.list({ namespace, signal });
pods.watch({ namespace, signal });
pods.view({ namespaces: undefined, window: undefined }).subscribe(() => {}, { signal });
void pods.refresh({ reset: undefined });
void waitForSync({}, { signal });
createInformerFactory(cache, { namespace });
