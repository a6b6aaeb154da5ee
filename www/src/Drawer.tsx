import { lazy, type ReactNode, Suspense, useEffect, useId, useLayoutEffect, useRef } from "react";
import { useObject } from "watchcache/react";
import { clock, grouped } from "./format";
import { PodEvents } from "./PodEvents";
import type { Session } from "./session";
import { Versions } from "./Versions";
import { useVersions } from "./versions";

/** The library that writes YAML comes with the first drawer. */
const Yaml = lazy(() => import("./Yaml"));

interface Props {
  session: Session;
  /** "namespace/name"; another one is another drawer. */
  podKey: string;
  onClose(): void;
}

/** One pod: what changed in it, its events, and all of it. It stays when the pod is gone, with the last version. */
export function Drawer({ session, podKey, onClose }: Props) {
  const { pods, history, events } = session;
  const { last, deleted, loaded } = useObject(pods, podKey);
  const { versions, from } = useVersions({ ...session, podKey });
  const [latest] = versions;
  // A pod of the past may have been gone before this was opened: then only the window knows it.
  const pod = last ?? latest?.object;
  const gone = deleted || (loaded && last === undefined);
  const [namespace, name] = podKey.split("/");
  const title = useId();

  return (
    <Frame title={title} onClose={onClose}>
      <header>
        <h2 id={title}>
          {name} <small>{namespace}</small>
        </h2>
        <button onClick={onClose} aria-label="Close the drawer">
          close
        </button>
      </header>
      <p className="version" role="status" data-testid="drawer-state" data-gone={gone}>
        {gone && latest?.type === "DELETED" && (
          <>
            <b>deleted{latest.at !== undefined && ` at ${clock(latest.at)}`}</b> by version {grouped(latest.resourceVersion)}; this is its
            last version
          </>
        )}
        {gone && latest?.type !== "DELETED" && <b>{pod ? "deleted; this is its last version" : "there is no such pod any more"}</b>}
        {!gone && pod && `version ${grouped(pod.metadata.resourceVersion)}`}
      </p>
      <Section title="what changed">
        <Versions versions={versions} from={from} since={from === undefined ? undefined : history.timeOf(from)} />
      </Section>
      <Section title="events">{pod && <PodEvents cache={events} namespace={namespace!} uid={pod.metadata.uid} />}</Section>
      <Section title={gone ? "last version" : "object"}>
        <Suspense fallback={<p className="none">loading</p>}>{pod && <Yaml object={pod} />}</Suspense>
      </Section>
    </Frame>
  );
}

/** Beside the table where there is room, and over everything where there is not. */
const NARROW = "(max-width: 1080px)";

function Frame({ title, onClose, children }: { title: string; onClose(): void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    if (matchMedia(NARROW).matches) current?.showModal();
    else current?.show();
    return () => current?.close();
  }, []);
  // Over the table nothing behind it can be reached; beside it, Escape is for us to handle.
  useEffect(() => dialog.current?.focus(), []);
  return (
    <dialog
      ref={dialog}
      className="drawer"
      tabIndex={-1}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      {children}
    </dialog>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  );
}
