import { plural } from "./format";
import type { Session } from "./session";
import { useNow } from "./useNow";

/** Who shares the streams, and where the first rows came from. */
export function Streams({ cache, firstRows }: Session) {
  useNow(500);
  const { mode, worker, resources } = cache.stats();
  const tabs = worker?.tabs ?? 1;
  const streams = worker?.resources.length ?? resources.length;
  const { found } = firstRows;
  return (
    <p
      className="streams"
      title="A second tab of this page joins the stream that is there. A reload shows what was held, before the network answers"
    >
      <span data-testid="tabs">{plural(tabs, "tab")}</span>, <span data-testid="streams">{plural(streams, "stream")}</span>
      {mode !== undefined && <span data-testid="mode">{mode === "inline" ? " of this page" : " in a worker"}</span>}
      {found && (
        <>
          {" · "}
          <span data-testid="first-rows">
            first rows from {found.from} at {Math.round(found.atMs)} ms
          </span>
        </>
      )}
    </p>
  );
}
