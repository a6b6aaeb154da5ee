import { noToken } from "./refusals.js";

/** Where a list goes on, and at which version. */
export interface Token {
  readonly version: bigint;
  /** The first key that may follow. */
  readonly start: string;
}

const FORM = "meta.k8s.io/v1";
/** In place of a version: the newest one, whatever it is then. */
export const ANY = -1n;

/** A continue token in the form of the API server's. */
export function encodeToken({ version, start }: Token): string {
  const bytes = new TextEncoder().encode(`{"v":"${FORM}","rv":${version},"start":${JSON.stringify(`/${start}`)}}`);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** @throws 400 for what is no such token */
export function decodeToken(token: string): Token {
  try {
    const bytes = Uint8Array.from(atob(token.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const text = new TextDecoder().decode(bytes);
    const { v, start } = JSON.parse(text) as { v?: unknown; start?: unknown };
    // As text: a version may be longer than a number holds.
    const rv = /"rv":(-?[0-9]+)[,}]/.exec(text)?.[1];
    if (v === FORM && rv !== undefined && rv !== "0" && typeof start === "string" && start !== "") {
      return { version: BigInt(rv), start: start.replace(/^\//, "") };
    }
  } catch {
    // No base64 or no JSON: told below.
  }
  throw noToken();
}
