import { useState } from "react";
import type { Session } from "./session";

interface Fault {
  /** The server's name of it: POST /demo/faults/<name>. */
  name: string;
  label: string;
  title: string;
  /** For the log. */
  did: string;
  /** Faults of lists show only while listing, so the page asks for one. */
  relist?: boolean;
}

const FAULTS: readonly Fault[] = [
  { name: "drop", label: "drop", title: "Cut every watch socket, in the middle of a frame", did: "sockets cut" },
  { name: "freeze", label: "freeze", title: "Half-open connection: the socket stays open and nothing comes any more", did: "stream frozen, socket left open" },
  { name: "expire", label: "expire", title: "Forget the history and cut the sockets: the version to resume from is gone (410)", did: "history forgotten, sockets cut" },
  { name: "unavailable", label: "503", title: "Answer 503 with Retry-After for a while and cut the sockets", did: "server answers 503" },
  { name: "stale", label: "stale replica", title: "Reconnect to a replica that is behind", did: "moved to a replica that is behind" },
  { name: "slow-pages", label: "slow pages", title: "Answer list pages slowly, and list again", did: "pages made slow, listing again", relist: true },
  { name: "bad-frame", label: "bad frame", title: "Send a watch frame that is no JSON", did: "a broken frame was sent" },
];

/** Buttons that break the stream. What the cache makes of it stands in the log beside them. */
export function Faults({ pods, journal }: Session) {
  const [busy, setBusy] = useState<string>();

  async function cause({ name, did, relist }: Fault) {
    setBusy(name);
    try {
      const answer = await fetch(`/demo/faults/${name}`, { method: "POST" });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      journal.begin(did);
      if (relist) void pods.refresh().catch(() => undefined);
    } catch (error) {
      journal.begin(`${name} could not be caused`);
      journal.step((error as Error).message, true);
    } finally {
      setBusy(undefined);
    }
  }

  return (
    <section className="faults" aria-label="Break the stream">
      <h2>break it</h2>
      <div className="buttons">
        {FAULTS.map((fault) => (
          <button key={fault.name} title={fault.title} disabled={busy === fault.name} onClick={() => void cause(fault)}>
            {fault.label}
          </button>
        ))}
      </div>
    </section>
  );
}
