/** The absolute address of a source that has one; an empty one where a text can be none. */
export function addressOf(source: unknown): string | undefined {
  if (typeof source === "string") {
    // As fetch has it: a page that is made of a text has the base of whoever made it.
    const base = typeof document === "object" ? document.baseURI : typeof location === "object" ? location.href : undefined;
    try {
      return source && new URL(source, base).href;
    } catch {
      return "";
    }
  }
  // By their members: test runners have realms of their own, in which `instanceof` tells nothing.
  const { href, url } = Object(source) as { href?: unknown; url?: unknown };
  if (typeof href === "string") return href;
  return typeof url === "string" && url !== "" ? url : undefined;
}

/** The page's own policy lets no request through to this address. */
export class Forbidden extends TypeError {}

/** How long the report of a violation may take, once its request has failed. */
const VIOLATION_MS = 50;

/** The host's fetch, as it is at each call. What it rejects with says what a person can do, which fetch itself does not tell. */
export async function ask(address: URL | RequestInfo, init: RequestInit = {}): Promise<Response> {
  const href = addressOf(address)!;
  let refused = false;
  let told = () => {};
  const heard = new Promise<void>((resolve) => (told = resolve));
  const onViolation = ({ effectiveDirective, disposition, blockedURI }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective !== "connect-src" || disposition !== "enforce" || !href.startsWith(blockedURI)) return;
    refused = true;
    told();
  };
  // Node has no events of its own.
  globalThis.addEventListener?.("securitypolicyviolation", onViolation);
  try {
    return await fetch(address, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    // What says why may come behind it: in Chromium in the next task, in Firefox some tasks later.
    const ms = typeof location === "object" ? VIOLATION_MS : 0;
    await Promise.race([heard, new Promise((resolve) => setTimeout(resolve, ms))]);
    if (refused) throw new Forbidden("the page's Content-Security-Policy forbids it: its connect-src must allow this address");
    if (typeof location !== "object" || href.startsWith(`${location.origin}/`)) throw error;
    const { message, cause } = error as Error;
    throw new TypeError(`${message}; where that server is up, it must allow the origin ${location.origin} (CORS)`, { cause });
  } finally {
    globalThis.removeEventListener?.("securitypolicyviolation", onViolation);
  }
}
