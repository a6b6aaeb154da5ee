import { useCallback, useRef, useState } from "react";
import type { Resource, ViewSpec, WatchCacheError } from "watchcache";
import { useStatus, useView } from "watchcache/react";
import { BY_KEY, orderOf, type Sort } from "./columns";
import { Drawer } from "./Drawer";
import { Faults } from "./Faults";
import { Figures } from "./Figures";
import { Help } from "./Help";
import { Integrity } from "./Integrity";
import { Log } from "./Log";
import { Meters } from "./Meters";
import { Namespaces, NamespaceSelect } from "./Namespaces";
import { usePast } from "./past";
import { DERIVE, type Fields, type Pod, SELECT } from "./pod";
import type { Session } from "./session";
import { StaleBar } from "./StaleBar";
import { StatusChip } from "./StatusChip";
import { Streams } from "./Streams";
import { useShortcuts } from "./shortcuts";
import { Table, type TableHandle } from "./Table";
import { TimeTravel } from "./TimeTravel";
import { Toolbar } from "./Toolbar";

/** The namespaces and their counts need no rows: a window of none. */
const BY_NAMESPACE: ViewSpec<Pod> = { groupBy: "metadata.namespace", window: { offset: 0, limit: 0 } };
const FIRST_WINDOW = { offset: 0, limit: 64 };

export function App({ session }: { session: Session }) {
  const { pods, feed, renders, history, samples, journal, embedded } = session;
  const [label, setLabel] = useState("");
  const [field, setField] = useState("");
  const [namespace, setNamespace] = useState<string>();
  const [sort, setSort] = useState<Sort>(BY_KEY);
  const [version, setVersion] = useState<string>();
  const [opened, setOpened] = useState<string>();

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

  const ready = status.phase === "live" || status.phase === "reconnecting";
  const past = usePast(history, version, { label, field, namespace, sort, ready });

  const handle = useRef<TableHandle>(null);
  const filterBox = useRef<HTMLInputElement>(null);
  const slider = useRef<HTMLInputElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const close = useCallback(() => {
    setOpened(undefined);
    handle.current?.focus();
  }, []);
  useShortcuts((key) => {
    if (help.current?.open) return false;
    if (key === "/") filterBox.current?.focus();
    else if (key === "t") slider.current?.focus();
    else if (key === "?") help.current?.showModal();
    else if (key === "Escape" && opened !== undefined) close();
    else if (handle.current?.move(key)) handle.current.focus();
    else return false;
    return true;
  });

  return (
    <div className="app" data-open={opened !== undefined}>
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
          total={past?.total ?? table.total}
          filterBox={filterBox}
        >
          <NamespaceSelect {...namespaces} />
        </Toolbar>
        <TimeTravel history={history} version={version} onVersion={setVersion} past={past} slider={slider} />
        <StaleBar pods={pods} status={status} />
        <Table
          table={table}
          past={past}
          feed={feed}
          renders={renders}
          sort={past?.sort ?? sort}
          onSort={setSort}
          stale={status.stale}
          empty={status.phase === "live" ? "no pods match" : undefined}
          handle={handle}
          onOpen={setOpened}
        />
      </main>
      {opened !== undefined && <Drawer key={opened} session={session} podKey={opened} onClose={close} />}
      <footer>
        <div>
          <Integrity {...session} />
          <Streams {...session} />
          <Meters samples={samples} />
        </div>
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
