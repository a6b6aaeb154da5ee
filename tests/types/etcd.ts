// Keys of etcd as a source, with the types of their values.
import { createWatchCache, type DeepReadonly, type Resource, type Source } from "watchcache";
import { type EtcdObject, type EtcdSource, etcdSource, type EtcdSourceOptions } from "watchcache/etcd";

interface Colours {
  sky: string;
  grass?: string;
}

const options: EtcdSourceOptions = { endpoints: ["http://127.0.0.1:2379", "http://127.0.0.1:2380"], prefix: "/app/" };
const keys: EtcdSource<EtcdObject<Colours>> = etcdSource({ ...options, username: "bob", password: "secret", transactions: true });

export const source: Source = keys;
export const resource: Resource<EtcdObject<Colours>> = createWatchCache().resource({ source: keys, id: "colours" });
export const sky: string | undefined = resource.peek("shop/colours")?.value?.sky;
export const bytes: string | undefined = resource.peek("shop/colours")?.valueBase64;
export const held: DeepReadonly<EtcdObject<Colours>> | undefined = resource.peek("shop/colours");
export const updated = resource.update("shop/colours", (colours) => ({ ...colours, value: { sky: "blue" } }));
// @ts-expect-error: no value of these keys
resource.update("shop/colours", (colours) => ({ ...colours, value: 5 }));
// @ts-expect-error: the prefix is missing
etcdSource({ endpoints: "http://127.0.0.1:2379" });
// @ts-expect-error: no such option
etcdSource({ ...options, token: "t" });
