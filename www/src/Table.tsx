import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useImperativeHandle, useRef, useState, useSyncExternalStore } from "react";
import type { KeyboardEvent, ReactNode, Ref } from "react";
import type { LiveView } from "watchcache/react";
import { COLUMNS, type Sort, type Value } from "./columns";
import type { Feed } from "./feed";
import { ago, duration } from "./format";
import type { Past } from "./past";
import type { PodRow } from "./pod";
import type { Renders } from "./renders";
import { useNow } from "./useNow";

/** What the page's shortcuts ask of the table. */
export interface TableHandle {
  focus(): void;
  move(key: string): boolean;
}

interface Props {
  table: LiveView<PodRow>;
  /** What to show instead: the rows as they were. */
  past: Past | undefined;
  feed: Feed;
  renders: Renders;
  sort: Sort;
  onSort(sort: Sort): void;
  stale: boolean;
  /** What to say instead of rows, once it is certain that there are none. */
  empty: string | undefined;
  handle: Ref<TableHandle>;
  onOpen(key: string): void;
}

/** Windows start and end at multiples of this, so that scrolling asks for a new one only now and then. */
const STEP = 32;

/** The pods, as a grid of which only the visible rows exist: in the document, and of which no object is decoded. */
export function Table({ table, past, feed, renders, sort, onSort, stale, empty, handle, onOpen }: Props) {
  const { view } = table;
  const { rows, offset, total, setWindow } = past ?? table;
  const isPast = past !== undefined;
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight();
  const clock = useNow(1000);
  const now = past?.at ?? clock;
  const virtual = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    scrollPaddingStart: rowHeight,
    overscan: 4,
    useFlushSync: false,
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  // Another filter or order: begin at its first row.
  useEffect(() => virtual.scrollToOffset(0), [virtual, view]);

  const items = virtual.getVirtualItems();
  const start = Math.max(0, Math.floor((items[0]?.index ?? 0) / STEP) - 1) * STEP;
  const end = (Math.ceil(((items.at(-1)?.index ?? 0) + 1) / STEP) + 1) * STEP;
  useEffect(() => setWindow({ offset: start, limit: end - start }), [setWindow, start, end]);

  // The cursor stays on its pod while rows move around it; when the pod is gone, on its place.
  const [cursor, setCursor] = useState<{ key: string; index: number }>();
  const found = cursor ? ((past ?? view)?.indexOf(cursor.key) ?? -1) : -1;
  const active = cursor === undefined ? -1 : found >= 0 ? found : Math.min(cursor.index, total - 1);

  function move(pressed: string): boolean {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const target = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: total - 1,
    }[pressed];
    if (target === undefined || total === 0) return false;
    const index = Math.min(Math.max(target, 0), total - 1);
    const pod = rows[index - offset];
    setCursor({ key: pod?.key ?? "", index });
    virtual.scrollToIndex(index);
    return true;
  }
  // A jump lands on a row that the window brings a moment later: take its key then.
  useEffect(() => {
    const pod = rows[active - offset];
    if (cursor && cursor.key === "" && pod) setCursor({ key: pod.key, index: active });
  }, [cursor, rows, active, offset]);
  useImperativeHandle(handle, () => ({ focus: () => scroller.current?.focus(), move }));

  const pick = useCallback(
    (picked: { key: string; index: number }) => {
      setCursor(picked);
      // Who marks a name to copy it wants nothing opened.
      if (getSelection()?.isCollapsed !== false) onOpen(picked.key);
    },
    [onOpen],
  );

  function onKeyDown(event: KeyboardEvent) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== event.currentTarget) return;
    const pod = event.key === "Enter" && rows[active - offset];
    if (pod) onOpen(pod.key);
    else if (!move(event.key)) return;
    event.preventDefault();
    // The page's shortcuts would move once more.
    event.stopPropagation();
  }

  return (
    <div
      className="table"
      ref={scroller}
      role="grid"
      aria-label="Pods"
      aria-rowcount={total + 1}
      aria-colcount={COLUMNS.length}
      aria-activedescendant={items.some(({ index }) => index === active) ? `row-${active}` : undefined}
      tabIndex={0}
      data-stale={stale && !isPast}
      data-past={isPast}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="head">
        <div role="row" aria-rowindex={1} className="row">
          {COLUMNS.map(({ id, title, numeric }, index) => {
            const sorted = sort.column === id;
            return (
              <div
                key={id}
                role="columnheader"
                aria-colindex={index + 1}
                aria-sort={sorted ? (sort.descending ? "descending" : "ascending") : "none"}
                className={`cell ${id}${numeric ? " numeric" : ""}`}
              >
                <button title={title} onClick={() => onSort({ column: id, descending: sorted && !sort.descending })}>
                  {id}
                  <span className="arrow" aria-hidden="true">
                    {sorted ? (sort.descending ? "▼" : "▲") : ""}
                  </span>
                </button>
              </div>
            );
          })}
        </div>
      </div>
      {total === 0 && empty && <p className="empty none">{empty}</p>}
      <div role="rowgroup" className="body" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const pod = rows[index - offset];
          return (
            <Row
              key={`${isPast}/${pod?.key ?? index}`}
              pod={pod}
              index={index}
              top={start}
              height={rowHeight}
              active={index === active}
              now={now}
              feed={isPast ? undefined : feed}
              renders={renders}
              onPick={pick}
            />
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  /** Missing for the moment between a long jump and the window's arrival. */
  pod: PodRow | undefined;
  index: number;
  top: number;
  height: number;
  active: boolean;
  now: number;
  /** Missing for rows of the past, which do not change. */
  feed: Feed | undefined;
  renders: Renders;
  onPick(cursor: { key: string; index: number }): void;
}

const Row = memo(function Row({ pod, index, top, height, active, now, feed, renders, onPick }: RowProps) {
  return (
    <div
      role="row"
      id={`row-${index}`}
      aria-rowindex={index + 2}
      aria-selected={active}
      className="row"
      style={{ transform: `translateY(${top}px)`, height }}
      onClick={() => pod && onPick({ key: pod.key, index })}
    >
      {pod && feed && <Mark podKey={pod.key} feed={feed} />}
      {COLUMNS.map(({ id, numeric, show }, column) => {
        const field = pod && show?.(pod);
        return (
          <div key={id} role="gridcell" aria-colindex={column + 1} className={`cell ${id}${numeric ? " numeric" : ""}`}>
            {field && <Field {...field} renders={renders} />}
            {pod && id === "age" && duration(now - Date.parse(pod.created))}
            {pod && feed && id === "changed" && <Changed podKey={pod.key} feed={feed} now={now} />}
          </div>
        );
      })}
    </div>
  );
});

interface FieldProps {
  value: Value;
  draw(value: Value): ReactNode;
  renders: Renders;
}

/** What a cell shows of its pod. It is rendered again only where the value is another, which is counted. */
const Field = memo(function Field({ value, draw, renders }: FieldProps) {
  const wasDrawn = useRef(false);
  useEffect(() => {
    if (wasDrawn.current) renders.drawn++;
    wasDrawn.current = true;
  });
  return draw(value);
});

/** When this page saw a pod change. Of this alone a row hears of every change. */
function useChangedAt(feed: Feed, key: string): number | undefined {
  const subscribe = useCallback((changed: () => void) => feed.subscribe(key, changed), [feed, key]);
  return useSyncExternalStore(subscribe, () => feed.changedAt.get(key));
}

/** Lights up a row that has changed. A new key starts the animation again: once for each change. */
function Mark({ podKey, feed }: { podKey: string; feed: Feed }) {
  const changedAt = useChangedAt(feed, podKey);
  const fresh = changedAt !== undefined && Date.now() - changedAt < 1000;
  return fresh && <span key={changedAt} className="fresh" aria-hidden="true" />;
}

function Changed({ podKey, feed, now }: { podKey: string; feed: Feed; now: number }) {
  const changedAt = useChangedAt(feed, podKey);
  if (changedAt !== undefined) return ago(Math.max(now, changedAt) - changedAt);
  return (
    <span className="none" title="not since this page was opened">
      –
    </span>
  );
}

/** A row in pixels: it follows the font, which grows with the screen. */
function useRowHeight(): number {
  const read = () => Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) * 1.85);
  const [height, setHeight] = useState(read);
  useEffect(() => {
    const onResize = () => setHeight(read());
    addEventListener("resize", onResize);
    return () => removeEventListener("resize", onResize);
  }, []);
  return height;
}
