import { invalid, is, type Kind, list, shown } from "../options/kinds.js";
import { type Bag, type Given, nearest, read } from "../options/read.js";
import type { Credentials } from "./types.js";

/** What may be a secret is told by its type alone. */
function hidden(value: unknown): string {
  return value === "" || value === null || value === undefined ? shown(value) : `a value of type ${typeof value}`;
}
const secret = is("text", (value) => typeof value === "string", hidden);
const plain = is("an object", (value) => typeof value === "object" && value !== null, hidden);
/** Texts by name. */
const named: Kind = (value, name) => {
  const given = Object.entries(plain(value, name)).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given.map(([key, text]) => [key, secret(text, `${name}.${key}`)]));
};
const AUTH: Bag<Credentials> = {
  // What lists its members by itself is the host's to read.
  headers: (value, name) =>
    typeof plain(value, name)[Symbol.iterator] === "function" || typeof value.forEach === "function" ? value : named(value, name),
  token: is("text, and left out where there is none", (value) => typeof value === "string" && value !== "", hidden),
  subprotocols: list(secret, hidden),
  query: named,
};

/**
 * What `auth` gave, read once and checked. Nothing at all is no way to say that there are no credentials: most often it is a `return` that was
 * forgotten.
 */
export function readCredentials(given: unknown): Given<Credentials> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid(`auth gives an object such as { token }, and {} to connect without credentials, not ${hidden(given)}`);
  const known = Object.keys(AUTH);
  // Beside credentials other names do no harm: many give their whole session. Alone, or misspelled, they would ask as somebody else, in silence.
  const session = given as Record<string, unknown>;
  const isMeant = (name: string) => nearest(name, known) !== undefined;
  const names = known.some((name) => session[name] !== undefined)
    ? [...known, ...Object.keys(session).filter(isMeant)]
    : Object.keys(session);
  return read<Credentials>(AUTH, "auth", Object.fromEntries(names.map((name) => [name, session[name]])), undefined, "", "auth: ");
}
