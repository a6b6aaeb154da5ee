// What `@kubernetes/client-node` has as `Watch`, for browsers: a streaming fetch, cut into lines, each line parsed and handed on.

/** Opens the watch's body as the benchmark says, by default with the browser's own fetch. */
export const network = { fetch: (url, init) => fetch(url, init) };

export class Watch {
  constructor(config) {
    this.config = config;
  }

  async watch(path, queryParams, callback, done) {
    const url = new URL(this.config.getCurrentCluster().server + path);
    url.searchParams.set("watch", "true");
    for (const [key, value] of Object.entries(queryParams ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const controller = new AbortController();
    let ended = false;
    const end = (error) => {
      if (ended) return;
      ended = true;
      controller.abort();
      done(error);
    };
    try {
      const response = await network.fetch(url, { signal: controller.signal });
      if (response.status !== 200) throw Object.assign(new Error(response.statusText), { statusCode: response.status });
      void lines(response.body, (line) => {
        const data = JSON.parse(line);
        callback(data.type, data.object, data);
      }).then(() => end(null), end);
    } catch (error) {
      end(error);
    }
    return controller;
  }
}

/** Reads a body to its end, line by line. */
export async function lines(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const parts = (rest + next.value).split("\n");
    rest = parts.pop();
    for (const line of parts) take(line);
  }
}
