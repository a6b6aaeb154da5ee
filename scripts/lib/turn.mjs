// Whose turn it is, where a run takes only a part of a matrix.
import { root } from "./project.mjs";
import { answer } from "./run.mjs";

/** The number of commits, so that each commit chooses the next ones and always the same. In a checkout without its history, the day. */
export function turnNow(folder = root) {
  const git = (...args) => answer("git", ["-C", folder, ...args]);
  const count = git("rev-parse", "--is-shallow-repository") === "false" ? git("rev-list", "--count", "HEAD") : undefined;
  return Number(count ?? Math.floor(Date.now() / 86_400_000));
}
