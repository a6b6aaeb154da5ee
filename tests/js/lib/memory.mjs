// The memory source by itself, asked as the cache asks it.
/** A ConfigMap. */
export const map = (name, data = {}, namespace = "default") => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
  data,
});
/** A signal that nobody aborts. */
export const never = new AbortController().signal;

/** A page, read. */
export async function page(source, request = {}) {
  return JSON.parse((await source.list(request, never)).body);
}

/** What a watch says at once, until it has nothing more to say. */
export async function said(source, request, signal = never) {
  const watch = source.watch({ allowWatchBookmarks: true, timeoutSeconds: 300, ...request }, signal)[Symbol.asyncIterator]();
  const events = [];
  for (;;) {
    const silence = new Promise((resolve) => setTimeout(resolve, 20));
    const next = await Promise.race([watch.next(), silence]);
    if (next === undefined || next.done) return events;
    events.push(JSON.parse(next.value));
  }
}
