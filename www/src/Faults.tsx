import { useState } from "react";
import type { Session } from "./session";
import { endWorker } from "./ending";
import { subscribeSlowly } from "./slow";

interface Fault {
  label: string;
  title: string;
  /** For the log. */
  did: string;
  /** What to ask of the embedded server, in turn: POST /demo/faults/<name> with its options. */
  steps: readonly [name: string, options?: Record<string, unknown>][];
  /** A fault of lists shows only while listing, so the page lists again. */
  relist?: boolean;
}

const DROP: Fault["steps"][number] = ["drop"];

const FAULTS: readonly Fault[] = [
  {
    label: "drop",
    title: "Cut every watch in the middle of a frame",
    did: "streams cut in the middle of a frame",
    steps: [["drop", { midFrame: true }]],
  },
  {
    label: "freeze",
    title: "A half-open connection: the socket stays open and nothing comes any more",
    did: "streams frozen, sockets left open",
    steps: [["freeze"]],
  },
  {
    label: "expire",
    title: "Forget the history and cut the streams: the version to resume from is gone (410)",
    did: "history forgotten, streams cut",
    steps: [["expire"]],
  },
  {
    label: "503",
    title: "Cut the streams and answer 503 with Retry-After for five seconds",
    did: "streams cut, the server answers 503 for 5 s",
    steps: [["status", { code: 503, ms: 5_000, retryAfterSeconds: 1 }], DROP],
  },
  {
    label: "stale replica",
    title: "Cut the streams and reconnect to a replica that is behind for eight seconds",
    did: "streams cut, moved to a replica that is behind for 8 s",
    steps: [["staleReplica", { ms: 8_000, behind: 500 }], DROP],
  },
  {
    label: "slow pages",
    title: "Send list pages slowly, and list again",
    did: "pages made slow, listing again",
    steps: [["slowPages", { ms: 6_000, pageMs: 500 }]],
    relist: true,
  },
  {
    label: "bad frame",
    title: "Send a watch frame that is no JSON",
    did: "a broken frame was sent",
    steps: [["badFrame"]],
  },
];

/** Buttons that break the stream. What the cache makes of it stands in the log beside them. */
export function Faults(session: Session) {
  const { cache, pods, journal } = session;
  const [busy, setBusy] = useState<string>();
  const [reading, setReading] = useState(false);

  async function cause({ label, did, steps, relist }: Fault) {
    setBusy(label);
    journal.begin(did);
    try {
      for (const [name, options] of steps) await post(name, options);
      if (relist) await pods.refresh();
    } catch (error) {
      journal.step((error as Error).message, true);
    } finally {
      setBusy(undefined);
    }
  }

  function end() {
    journal.begin("the worker of all tabs was ended");
    endWorker();
  }

  async function read() {
    setReading(true);
    await subscribeSlowly(session).finally(() => setReading(false));
  }

  return (
    <section className="faults" aria-label="Break the stream">
      <h2>break it</h2>
      <div className="buttons">
        {FAULTS.map((fault) => (
          <button key={fault.label} title={fault.title} disabled={busy === fault.label} onClick={() => void cause(fault)}>
            {fault.label}
          </button>
        ))}
        <button
          title="Open a watch that is read too slowly. It is this page's own: the server hears nothing of it"
          disabled={reading}
          onClick={() => void read()}
        >
          slow subscriber
        </button>
        {cache.stats().mode === "shared" && (
          <button title="End the worker that holds the streams of all tabs. They begin another one, and their rows stay" onClick={end}>
            kill worker
          </button>
        )}
      </div>
    </section>
  );
}

async function post(name: string, options: Record<string, unknown> = {}): Promise<void> {
  const answer = await fetch(`/demo/faults/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(options),
  });
  if (!answer.ok) throw new Error(`the server refused: ${answer.status} ${await answer.text()}`);
}
