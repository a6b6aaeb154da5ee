import { toError, type WatchCacheError } from "../error/errors.js";
import type { Loading } from "../load/loader.js";
import { deepFreeze } from "../wire/objects.js";
import type { RawResource, RawStatus } from "../wire/raw.js";
import type { ResourceStatus } from "./types.js";

/** What a status is made of: the core's, or what the facade knows better. */
export type Told = Omit<RawStatus, "error" | "retryAt"> & { error?: RawStatus["error"] | WatchCacheError; retryAt?: number | undefined };

/** Nothing was asked for yet. */
export const NOT_OPEN = Object.freeze({ phase: "idle", stale: false, attempt: 0 } as const);

/** Whether a whole state is held that the server has confirmed. */
export function isSynced({ resourceVersion, unconfirmed }: Pick<Told, "resourceVersion" | "unconfirmed">): boolean {
  return resourceVersion !== undefined && unconfirmed === undefined;
}

/** The phases that tell of errors and of the next try. */
const TROUBLED: readonly string[] = ["loading", "reconnecting", "needs-auth", "failed"];

/** A resource, as far as this is about it. */
interface StatusOwner {
  readonly name: string;
  status: ResourceStatus;
  told(): Told;
  /** Never throws. */
  dispatch(name: "status"): void;
}

/** Microtasks in a second that tell a status. Later ones wait, so that listeners who change the status in a loop do not starve the page. */
const MAX_MICROTASKS = 32;
/** How long they wait. */
const THROTTLE_MS = 50;

/** Keeps a resource's snapshot, and tells of each new one. Nothing else makes one. */
export class StatusTeller {
  readonly #of: StatusOwner;
  #planned = false;
  #throttled = false;
  #microtasks = 0;
  #since = 0;
  #telling = false;

  constructor(of: StatusOwner) {
    this.#of = of;
  }

  /** Renews the snapshot and tells of it, if anything in it has changed. What its listeners cause is told after they all have heard of it. */
  now(): void {
    if (this.#telling) return this.soon();
    const { status, name } = this.#of;
    const next = nextStatus(status, this.#of.told(), name);
    if (next === status) return;
    this.#of.status = next;
    this.#telling = true;
    this.#of.dispatch("status");
    this.#telling = false;
  }

  /** The same for what the core tells. */
  heard(): void {
    if (!this.#throttled) this.now();
  }

  /** The same in the next microtask. */
  soon(): void {
    if (this.#planned) return;
    this.#planned = true;
    const tell = () => {
      this.#planned = this.#throttled = false;
      this.now();
    };
    const now = performance.now();
    if (now - this.#since > 1_000) [this.#since, this.#microtasks] = [now, 0];
    this.#throttled = ++this.#microtasks > MAX_MICROTASKS;
    if (this.#throttled) setTimeout(tell, THROTTLE_MS);
    else queueMicrotask(tell);
  }
}

/** What the facade knows of a resource. */
interface Own {
  readonly closed: boolean;
  /** While it waits for the WebAssembly. */
  readonly loading: Loading | undefined;
  /** Since when it is paused, or was stale before; undefined where it is not. */
  readonly paused: number | undefined;
  readonly error: WatchCacheError | undefined;
  /** Where nobody is there that the core could ask: when that is tried again. What the core tries before is in vain. */
  readonly away: { readonly retryAt: number | undefined } | undefined;
}

/**
 * What the core tells at this moment, and what is known better here. A pause and a close are true from the call on, which the core learns
 * later. And while the WebAssembly loads, or after a panic, there is no core to ask.
 */
export function told(raw: RawResource | undefined, own: Own, resource: string): Told {
  let told: Told;
  try {
    told = raw?.status() ?? NOT_OPEN;
  } catch (error) {
    told = { ...NOT_OPEN, phase: "failed", error: toError(error, resource) };
  }
  if (own.away !== undefined && raw !== undefined) told = { ...told, retryAt: own.away.retryAt };
  if (own.loading !== undefined) {
    const { attempt, error, retryAt } = own.loading;
    told = { ...told, attempt, error, retryAt };
  }
  if (own.error !== undefined) told = { ...told, error: own.error, retryAt: undefined };
  const phase = phaseOf(raw, own, told.phase);
  if (phase !== "paused") return { ...told, phase };
  // By the rule of the core (src/cache/status.rs), which comes to its pause later.
  const { staleSince, ...rest } = told;
  return told.resourceVersion !== undefined || shows(raw)
    ? { ...rest, phase, stale: true, staleSince: own.paused! }
    : { ...rest, phase, stale: false };
}

/** Rows of a list under way. */
function shows(raw: RawResource | undefined): boolean {
  try {
    return raw !== undefined && raw.size() > 0;
  } catch {
    return false;
  }
}

function phaseOf(raw: RawResource | undefined, own: Own, core: Told["phase"]): Told["phase"] {
  if (own.closed) return "closed";
  if (own.error !== undefined) return "failed";
  if (own.loading !== undefined) return "loading";
  if (own.paused !== undefined) return "paused";
  if (raw === undefined) return "idle";
  return core === "paused" ? "idle" : core;
}

/**
 * The next snapshot, which is the last one where nothing in it has changed. Its error stays the same object while the core tells the same
 * error.
 */
function nextStatus(last: ResourceStatus, told: Told, resource: string): ResourceStatus {
  const { phase, stale, staleSince, attempt, listed, quarantined, namespaces } = told;
  const { error: lastError, ...lastRest } = last as Told;
  const troubled = TROUBLED.includes(phase);
  const error = troubled && told.error !== undefined ? sameError(lastError, told.error, resource) : undefined;
  // As text they are compared, and lose what is undefined.
  const retryAt = troubled ? told.retryAt : undefined;
  const text = JSON.stringify({ phase, stale, staleSince, attempt, listed, quarantined, namespaces, retryAt });
  if (error === lastError && text === JSON.stringify(lastRest)) return last;
  const next = JSON.parse(text) as ResourceStatus;
  if (error !== undefined) Object.assign(next, { error });
  deepFreeze(next);
  return next;
}

/** The error as one of this package; the last one where it tells the same. */
function sameError(last: Told["error"], error: NonNullable<Told["error"]>, resource: string): WatchCacheError {
  const same = last?.code === error.code && last.message === error.message && last.retryAfterSeconds === error.retryAfterSeconds;
  return toError(same ? last : error, resource);
}
