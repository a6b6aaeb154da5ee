import { lazy, Suspense, useSyncExternalStore } from "react";
import { grouped } from "./format";
import type { Sample, Samples } from "./samples";

/** The library that draws comes after the rows. */
const Sparkline = lazy(() => import("./Sparkline"));

interface Meter {
  id: keyof Sample;
  name: string;
  unit: string;
  title: string;
  words(value: number): string;
}

const METERS: readonly Meter[] = [
  { id: "rate", name: "events", unit: "a second", title: "events of pods in the last second", words: rounded },
  {
    id: "ingest",
    name: "ingest",
    unit: "µs",
    title: "from the moment a frame was read until the cache had it: the mean of the last second's events, by the cache's own metrics",
    words: rounded,
  },
  {
    id: "longest",
    name: "longest task",
    unit: "ms",
    title: "the longest task of this page in the last second; browsers tell only of those of 50 ms or more, and some of none",
    words: (value) => (value === 0 ? "< 50" : rounded(value)),
  },
];

/** Three numbers of the last second, each with the minute before it. */
export function Meters({ samples }: { samples: Samples }) {
  const shown = useSyncExternalStore(samples.subscribe, () => samples.all);
  return (
    <dl className="meters">
      {METERS.map(({ id, name, unit, title, words }) => {
        const value = shown.at(-1)?.[id];
        const text = typeof value === "number" ? words(value) : "–";
        return (
          <div key={id} title={title}>
            <dt>{name}</dt>
            <dd>
              <b data-testid={`meter-${id}`}>{text}</b> {unit}
            </dd>
            <dd className="sparkline" role="img" aria-label={`${name} in the last minute, now ${text} ${unit}`}>
              <Suspense>
                <Sparkline times={shown.map(({ at }) => at / 1_000)} values={shown.map((sample) => (sample[id] as number) ?? null)} />
              </Suspense>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function rounded(value: number): string {
  return grouped(Math.round(value));
}
