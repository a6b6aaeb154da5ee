import { type KeyboardEvent, type Ref, useEffect, useState } from "react";
import { ago, duration, grouped } from "./format";
import type { PodHistory } from "./history";
import { MOST, type Past } from "./past";
import { useNow } from "./useNow";

interface Props {
  history: PodHistory;
  /** The version that is wanted; undefined: now. */
  version: string | undefined;
  onVersion(version: string | undefined): void;
  past: Past | undefined;
  slider: Ref<HTMLInputElement>;
}

/** A slider over the changes that the event window holds. At its right end is now. */
export function TimeTravel({ history, version, onVersion, past, slider }: Props) {
  const now = useNow(1_000);
  const [dropped, setDropped] = useState<string>();
  const { held } = history;
  const index = version === undefined ? held.length : history.indexOf(version);

  // The window moves on, and what it drops can be shown no more: then on to a version that it keeps for a while.
  const isLost = version !== undefined && held[index]?.version !== version;
  useEffect(() => {
    if (!isLost) return;
    setDropped(version);
    onVersion(held[Math.floor(held.length / 20)]?.version);
  }, [isLost, version, held, onVersion]);

  function go(to: number) {
    setDropped(undefined);
    onVersion(held[to]?.version);
  }
  function onKeyDown({ key }: KeyboardEvent) {
    if (key === "Escape") go(held.length);
  }

  const at = version === undefined ? undefined : history.timeOf(version);
  const when = version === undefined ? "now" : `version ${grouped(version)}${at === undefined ? "" : `, ${ago(now - at)}`}`;
  return (
    <div className="time" data-past={version !== undefined} data-testid="time">
      <label>
        <span>time</span>
        <input
          ref={slider}
          type="range"
          min={0}
          max={held.length}
          value={index}
          disabled={held.length === 0}
          aria-valuetext={when}
          onChange={({ target }) => go(Number(target.value))}
          onKeyDown={onKeyDown}
        />
      </label>
      {version === undefined ? (
        <span className="none">
          {held[0] ? `now; the event window reaches ${duration(now - held[0].at)} back` : "nothing has changed yet"}
        </span>
      ) : (
        <>
          <span data-testid="past" data-version={past?.version}>
            <b>as it was</b> at {when}
            {past?.more && `; the first ${MOST}, by namespace and name`}
          </span>
          <button className="link" onClick={() => go(held.length)}>
            back to now
          </button>
        </>
      )}
      <span role="status" className="dropped" data-testid="dropped">
        {dropped && `version ${grouped(dropped)} is no longer held: moved on`}
        {past?.error?.message}
      </span>
    </div>
  );
}
