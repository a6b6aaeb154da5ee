import { FIELD_CELLS } from "./columns";
import { bytes, grouped } from "./format";
import type { Renders } from "./renders";
import type { Session } from "./session";
import { useNow } from "./useNow";

/** The version reached, events a second, objects, the bytes the cache holds for them, and the cells that React was spared. */
export function Figures({ cache, pods, feed, renders }: Session) {
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
      <div className="spared" title={spared(renders, feed.reached)}>
        <dd data-testid="spared">
          {grouped(renders.spared)} of {grouped(renders.due)}
        </dd>
        <dt>cell renders spared</dt>
      </div>
    </dl>
  );
}

const spared = ({ due, drawn }: Renders, reached: number) =>
  `updates reached rows of this table ${grouped(reached)} times: a table of whole objects renders their ${FIELD_CELLS} cells of fields each time, ` +
  `${grouped(due)} in all. This one selects its fields, and rendered ${grouped(drawn)}`;
