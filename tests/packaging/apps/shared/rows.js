// What a test of an application does with the package: reads the rows of one namespace, and hears of one that is created.
const names = (view) => view.getSnapshot().rows.map((pod) => pod.metadata.name);

/** Resolves to what was seen; rejects with what the package says is wrong. */
export async function liveRows({ createWatchCache }, server, options = {}) {
  const cache = createWatchCache({ server, ...options });
  try {
    const pods = cache.resource("pods");
    const view = pods.view({ namespaces: ["shop"], orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 500 } });
    const failed = new Promise((_, reject) => {
      pods.addEventListener("status", () => pods.status.error && reject(pods.status.error));
    });
    const changed = (condition) =>
      new Promise((resolve) => {
        const look = () => condition(names(view)) && resolve(names(view));
        view.subscribe(look);
        look();
      });
    const before = await Promise.race([pods.synced().then(() => changed((rows) => rows.length > 0)), failed]);
    await pods.create({
      metadata: { namespace: "shop", name: "aaa-fresh" },
      spec: { containers: [{ name: "main", image: "example.com/main:1" }] },
    });
    const after = await Promise.race([changed((rows) => rows.includes("aaa-fresh")), failed]);
    return { before, after };
  } finally {
    await cache.close();
  }
}
