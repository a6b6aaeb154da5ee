import { useEffect, useRef, useState } from "react";
import type { Resource, ViewSpec, WatchCacheError } from "watchcache";
import { useStatus, useView } from "watchcache/react";
import { orderOf, type Sort } from "./columns";
import { Faults } from "./Faults";
import { Figures } from "./Figures";
import { Help } from "./Help";
import { Integrity } from "./Integrity";
import { Log } from "./Log";
import { Namespaces, NamespaceSelect } from "./Namespaces";
import { DERIVE, type Fields, type Pod, SELECT } from "./pod";
import type { Session } from "./session";
import { StaleBar } from "./StaleBar";
import { StatusChip } from "./StatusChip";
import { Table, type TableHandle } from "./Table";
import { Toolbar } from "./Toolbar";

/** The namespaces and their counts need no rows: a window of none. */
const BY_NAMESPACE: ViewSpec<Pod> = { groupBy: "metadata.namespace", window: { offset: 0, limit: 0 } };
const FIRST_WINDOW = { offset: 0, limit: 64 };

export function App({ session }: { session: Session }) {
  const { pods, feed, renders, journal, embedded } = session;
  const [label, setLabel] = useState("");
  const [field, setField] = useState("");
  const [namespace, setNamespace] = useState<string>();
  const [sort, setSort] = useState<Sort>({ column: "namespace", descending: false });

  const status = useStatus(pods);
  const spaces = useView(pods, BY_NAMESPACE);
  const namespaces = { counts: spaces.counts, total: spaces.total, chosen: namespace, onChoose: setNamespace };
  const table = useView<Fields>(pods, {
    labelSelector: label,
    fieldSelector: field,
    namespaces: namespace === undefined ? undefined : [namespace],
    orderBy: orderOf(sort),
    window: FIRST_WINDOW,
    select: SELECT,
    derive: DERIVE,
  });

  const handle = useRef<TableHandle>(null);
  const filterBox = useRef<HTMLInputElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.altKey || event.ctrlKey || event.metaKey || help.current?.open) return;
      if ((event.target as Element).closest("input, select, textarea, ol")) return;
      if (event.key === "/") filterBox.current?.focus();
      else if (event.key === "?") help.current?.showModal();
      else if (handle.current?.move(event.key)) handle.current.focus();
      else return;
      event.preventDefault();
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);

  return (
    <div className="app">
      <header>
        <h1>
          <span>watchcache</span> <small>pods · {namespace ?? "all namespaces"}</small>
        </h1>
        <StatusChip pods={pods} status={status} />
        <Figures {...session} />
        <button className="link" aria-label="Keyboard help" onClick={() => help.current?.showModal()}>
          ?
        </button>
      </header>
      <Namespaces {...namespaces} />
      <main>
        <Toolbar
          label={{ text: label, onText: setLabel, error: table.error && refusal(pods, { labelSelector: label }) }}
          field={{ text: field, onText: setField, error: table.error && refusal(pods, { fieldSelector: field }) }}
          total={table.total}
          filterBox={filterBox}
        >
          <NamespaceSelect {...namespaces} />
        </Toolbar>
        <StaleBar pods={pods} status={status} />
        <Table
          table={table}
          feed={feed}
          renders={renders}
          sort={sort}
          onSort={setSort}
          stale={status.stale}
          empty={status.phase === "live" ? "no pods match" : undefined}
          handle={handle}
        />
      </main>
      <footer>
        <Integrity {...session} />
        {embedded && <Faults {...session} />}
        <Log journal={journal} />
      </footer>
      <Help dialog={help} />
    </div>
  );
}

/** A view with two selectors says that it was refused; each alone says which one it was. Making one costs nothing. */
function refusal(pods: Resource<Pod>, spec: ViewSpec<Pod>): WatchCacheError | undefined {
  try {
    pods.view(spec);
  } catch (error) {
    return error as WatchCacheError;
  }
}
