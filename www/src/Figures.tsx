import { bytes, grouped } from "./format";
import type { Session } from "./session";
import { useNow } from "./useView";

/** The version reached, events a second, objects, and the bytes the cache holds for them. */
export function Figures({ cache, pods, feed }: Session) {
  useNow(500);
  const version = pods.resourceVersion;
  const held = cache.stats().memoryBytes;
  return (
    <dl className="figures">
      <div className="version">
        <dt>version</dt>
        <dd data-testid="version">{version === undefined ? "–" : grouped(version)}</dd>
      </div>
      <div>
        <dd data-testid="rate">{grouped(Math.round(feed.rate()))}</dd>
        <dt>ev/s</dt>
      </div>
      <div>
        <dd data-testid="objects">{grouped(pods.size)}</dd>
        <dt>objects</dt>
      </div>
      <div title="the cache's WebAssembly memory: all objects and their recent history">
        <dd data-testid="bytes">{bytes(held)}</dd>
        <dt>held</dt>
      </div>
    </dl>
  );
}
