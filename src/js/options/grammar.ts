// What the core has to judge. Before it is there, only types are checked.
import { toError } from "../error/errors.js";
import { invalid, type Judge, type Kind, list, text } from "./kinds.js";

type Core = NonNullable<ReturnType<Judge["loaded"]>>;

/** Has the core judge something, if it is there. */
export function ask(judge: Judge | undefined, question: (core: Core) => void): void {
  const core = judge?.loaded();
  if (core === undefined) return;
  try {
    question(core);
  } catch (error) {
    const mistake = toError(error, judge?.name);
    // Of a panic whoever uses the core is told.
    if (mistake.code === "invalid") throw mistake;
  }
}

/** What the core has to judge: a selector, a path, or the name of an index that a function makes. */
export const judged: Kind = (value, name, judge) => {
  ask(judge, (core) => core.checkGrammar(name, typeof value === "string" ? value : undefined));
  return value;
};

/** A selector or a path. */
export const grammar: Kind = (value, name, judge) => judged(text(value, name), name, judge);

/** Paths, at least one. */
export const paths: Kind = (value, name, judge) => {
  const given = list(grammar)(value, name, judge);
  if (given.length === 0) throw invalid(`${name} names at least one path; leave it out to hear of every change`);
  return given;
};

export const selectors = { labelSelector: grammar, fieldSelector: grammar };
export const scope = { namespace: text, ...selectors };

/** Space around a selector and an empty one say nothing, so they make no other stream. */
export function selector(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
