// Headlamp: `useList` of its Pod class from npm, over TanStack Query.
import Pod from "@kinvolk/headlamp-plugin/lib/lib/k8s/pod.js";
import { kubeObjectListQuery } from "@kinvolk/headlamp-plugin/lib/lib/k8s/api/v2/useKubeObjectList.js";
import { queryClient } from "@kinvolk/headlamp-plugin/lib/lib/queryClient.js";
import { QueryClientProvider } from "@tanstack/react-query";
import { createElement } from "react";
import { plain, useOnceASecond, useOrdered } from "./peers.js";

const CLUSTER = "main";

export function headlamp() {
  const [endpoint] = Pod.apiEndpoint.apiInfo;
  const query = kubeObjectListQuery(Pod, endpoint, undefined, CLUSTER, {}, undefined);
  return {
    ...plain,
    Around: ({ children }) => createElement(QueryClientProvider, { client: queryClient }, children),
    /** What a page before this one has left in the cache of queries. */
    hold: () => queryClient.prefetchQuery(query),
    useRows() {
      const { items } = Pod.useList({ cluster: CLUSTER });
      // As most of its tables do. That of pods does not, which would only be slower.
      return useOrdered(useOnceASecond(items));
    },
    reached: ({ version }) => Number(queryClient.getQueryData(query.queryKey).list.metadata.resourceVersion) >= version,
    close() {},
  };
}
