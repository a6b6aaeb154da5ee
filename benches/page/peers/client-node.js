// The informer of `@kubernetes/client-node`, with the socket's frames in the place of its own connection. It has no filters: each
// subscriber's handler asks for itself.
import { ListWatch } from "@kubernetes/client-node/dist/cache.js";
import { isOf, keyOf } from "./object.js";
import { topRows } from "./rows.js";

export async function clientNode({ items, version }) {
  let callback;
  let hearRows;
  const socket = {
    async watch(_path, _query, given) {
      callback = given;
      return { abort() {} };
    },
  };
  const list = async () => ({ metadata: { resourceVersion: String(version) }, items: items.map((text) => JSON.parse(text)) });
  const informer = new ListWatch("/api/v1/pods", socket, list, false);
  await informer.start();
  return {
    take(frame) {
      const data = JSON.parse(frame);
      void callback(data.type, data.object, data);
    },
    flush: () => hearRows?.(topRows(informer.list())),
    subscribe(group, hear) {
      const matches = isOf(group);
      informer.on("change", (object) => {
        if (matches(object)) hear(keyOf(object), object.metadata.resourceVersion, object);
      });
    },
    view(hear) {
      hear(topRows(informer.list()));
      hearRows = hear;
      return () => void (hearRows = undefined);
    },
    keys: () => informer.list().map(keyOf),
    get(key) {
      const [namespace, name] = key.split("/");
      return informer.get(name, namespace);
    },
    async settled() {},
    close: () => informer.stop(),
  };
}
