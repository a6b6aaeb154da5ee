import type { Logger, UrlLike } from "../host/types.js";
import type { Runtime } from "../load/instance.js";
import type { Port } from "./port.js";

/** Where the streams of a cache are held by somebody else than its page. */
export type SharedMode = "worker" | "shared";

/** What starts a worker: it has a port, or is one. */
export type Startable = Pick<Worker, "postMessage" | "addEventListener" | "terminate"> | Pick<SharedWorker, "port" | "addEventListener">;

/** Starts the package's own script as a worker of this name. @throws where there can be none. */
export type StartWorker = (mode: SharedMode, name: string) => Startable;

/** Holds streams in the page itself. */
export interface Here {
  /** A port to it. */
  open(): Port;
  /** Ends that port, at once: a page that hears a message after it has been put away is not kept for the way back. */
  leave(): void;
  /** Ends it, and all it holds. */
  close(): void;
}

/** What a page tells its own streams, and no worker: how long they stay for nobody, and where messages go. */
export interface Own {
  readonly linger: number;
  readonly logger: Logger;
}

/** How an entry gets at streams that its page does not hold. */
export interface Ways {
  /** Undefined where the entry has no script of its own. */
  readonly start?: StartWorker;
  /** For a page whose next worker cannot be had. */
  readonly here: (runtime: Runtime, own: Own) => Here;
}

/** What leads to a worker: where its script lies, or what opens a port to one. */
export type WorkerOption = string | UrlLike | ((name: string) => Port);

/**
 * A port to the worker of this name, which is started where there is none.
 *
 * @param given as the option; undefined: the package's own script
 * @param failed hears until the signal that it could not be started, or has thrown something; and whether that has ended it
 * @throws where there can be none.
 */
export function openWorker(
  mode: SharedMode,
  name: string,
  given: WorkerOption | undefined,
  start: StartWorker | undefined,
  failed: (why: string, isEnd: boolean) => void,
  signal: AbortSignal,
): Port {
  if (typeof given === "function") return portOf(given(name));
  const worker = given === undefined ? start?.(mode, name) : startAt(mode, name, typeof given === "string" ? given : given.href);
  if (worker === undefined) throw new Error("this entry of the package has no script beside it: name one by the option worker");
  worker.addEventListener("error", (event: unknown) => failed(whyOf(event as Failure), (event as Failure).isEnd === true), { signal });
  if ("port" in worker) return worker.port;
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer ?? []),
    addEventListener: (type, listener, options) => worker.addEventListener(type, listener, options),
    close: () => worker.terminate(),
  };
}

/** @throws for what is none, such as a promise of one. */
function portOf(given: Port): Port {
  const { postMessage, addEventListener } = (given ?? {}) as Partial<Port>;
  if (typeof postMessage === "function" && typeof addEventListener === "function") return given;
  throw new Error("the function of the option worker gives no MessagePort");
}

/** What a worker's event `error` tells. */
export interface Failure {
  readonly message?: string;
  /** Whether it has ended the worker: a thread of Node it does, a worker of a page it does not. */
  readonly isEnd?: boolean;
}

/** A script that cannot be loaded says nothing more, one that fails says how. */
function whyOf({ message }: Failure): string {
  return message || "its script cannot be loaded, or a Content-Security-Policy without worker-src forbids it";
}

/** @throws where the host has no such workers. */
export function needWorkers(mode: SharedMode): void {
  const needed = mode === "shared" ? "SharedWorker" : "Worker";
  if (typeof (globalThis as Record<string, unknown>)[needed] !== "function") throw new Error(`this host has no ${needed}`);
}

/** @throws where the host has no such workers. */
export function startAt(mode: SharedMode, name: string, address: string): Worker | SharedWorker {
  needWorkers(mode);
  const options = { type: "module", name } as const;
  return mode === "shared" ? new SharedWorker(address, options) : new Worker(address, options);
}
