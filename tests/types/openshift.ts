// What the hooks and calls of OpenShift's shape take and give.
import { createWatchCache } from "watchcache";
import {
  k8sCreate,
  k8sDelete,
  k8sGet,
  k8sListItems,
  k8sPatch,
  type K8sModel,
  registerK8s,
  useK8sWatchResource,
  useK8sWatchResources,
} from "watchcache/compat/openshift";
import { same } from "./same.js";

/** As plugins write their types. */
interface Pod {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string; namespace?: string; labels?: { [label: string]: string } };
  spec: { nodeName: string };
}

/** With what is for people, as a console has it. */
const model = { kind: "Pod", plural: "pods", apiVersion: "v1", namespaced: true, abbr: "P", label: "Pod", labelPlural: "Pods" };
const cache = createWatchCache();
registerK8s({ cache, models: [model] });
// @ts-expect-error: a model says how its kind is written in paths
const without: K8sModel = { kind: "Pod", apiVersion: "v1" };
registerK8s({ models: [without] });

export function hooks(namespace: string | undefined) {
  const groupVersionKind = { version: "v1", kind: "Pod" };
  const [pods, loaded, error] = useK8sWatchResource<Pod[]>({
    groupVersionKind,
    isList: true,
    namespace,
    selector: { matchLabels: { a: "b" } },
  });
  same<typeof pods, Pod[]>();
  same<typeof loaded, boolean>();
  const status: number | undefined = error?.response?.status;
  pods.sort();
  useK8sWatchResource<Pod>(null);
  // @ts-expect-error: a selector is an object
  useK8sWatchResource<Pod[]>({ groupVersionKind, isList: true, selector: "a=b" });

  const all = useK8sWatchResources<{ one: Pod; many: Pod[] }>({ one: { groupVersionKind, name: "a", namespace }, many: null });
  same<typeof all.one.data, Pod>();
  same<typeof all.many.data, Pod[]>();
  return status;
}

export async function calls() {
  const pod = await k8sGet<Pod>({ model, name: "a", ns: "b" });
  same<typeof pod, Pod>();
  same<Awaited<ReturnType<typeof k8sListItems<Pod>>>, Pod[]>();
  await k8sCreate<Pod>({ model, data: pod, cache });
  await k8sPatch({ model, resource: pod, data: [{ op: "replace", path: "/spec/nodeName", value: "c" }] });
  await k8sDelete({ model, resource: pod, json: { propagationPolicy: "Background" } });
  // @ts-expect-error: what is patched has to be named
  await k8sPatch({ model, data: [] });
}
