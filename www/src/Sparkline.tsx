import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { KEPT } from "./samples";

interface Props {
  /** Seconds since the epoch. */
  times: number[];
  values: (number | null)[];
}

/** How often the line moves for those who want little motion: the number beside it tells the rest. */
const CALM_MS = 10_000;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** A line without axes, from nought, in the colour of its place. */
export default function Sparkline({ times, values }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const drawn = useRef(0);

  useEffect(() => {
    const host = place.current!;
    const colour = () => getComputedStyle(host).color;
    const size = () => ({ width: host.clientWidth, height: host.clientHeight });
    const made = new uPlot(
      {
        ...size(),
        padding: [2, 0, 1, 0],
        legend: { show: false },
        cursor: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: { x: { time: false, range: (_, __, last) => [last - KEPT + 1, last] }, y: { range: (_, __, most) => [0, most || 1] } },
        series: [{}, { stroke: colour, width: 1.25, points: { show: false } }],
      },
      [[], []],
      host,
    );
    plot.current = made;
    drawn.current = 0;
    const resized = new ResizeObserver(() => made.setSize(size()));
    resized.observe(host);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, []);

  useEffect(() => {
    const now = Date.now();
    if (calm.matches && now - drawn.current < CALM_MS) return;
    drawn.current = now;
    plot.current?.setData([times, values]);
  }, [times, values]);

  return <div ref={place} />;
}
