import { noToken } from "./refusals.js";

/** Where a list goes on, and at which version. */
export interface Token {
  readonly version: number;
  /** The first key that may follow. */
  readonly start: string;
}

const FORM = "meta.k8s.io/v1";
/** In place of a version: the newest one, whatever it is then. */
export const ANY = -1;

/** A continue token in the form of the API server's. */
export function encodeToken({ version, start }: Token): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: FORM, rv: version, start: `/${start}` }));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** @throws 400 for what is no such token */
export function decodeToken(token: string): Token {
  try {
    const bytes = Uint8Array.from(atob(token.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const { v, rv, start } = JSON.parse(new TextDecoder().decode(bytes)) as { v?: unknown; rv?: unknown; start?: unknown };
    if (v === FORM && Number.isInteger(rv) && rv !== 0 && typeof start === "string" && start !== "") {
      return { version: rv as number, start: start.replace(/^\//, "") };
    }
  } catch {
    // No base64 or no JSON: told below.
  }
  throw noToken();
}
