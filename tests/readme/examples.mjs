// The examples of a guide. Each runs behind the guide's prelude, and prints exactly what stands below it. There "…" stands for whatever differs from
// run to run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

const EPILOGUE = "await cache.close();\n";

/** @param {string} guide @returns {{ program: string, prints: string | undefined }[]} */
export function examplesOf(guide) {
  const text = readFileSync(join(root, "docs", guide), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)( prelude)?\n(.*?)^```$/gms)].map(([, language, prelude, body]) => ({
    language,
    prelude,
    body,
  }));
  const prelude = blocks.find((block) => block.prelude)?.body ?? "";
  return blocks.flatMap(({ language, body, ...block }, index) => {
    if (language !== "js" || block.prelude) return [];
    const next = blocks[index + 1];
    return [{ program: prelude + body + EPILOGUE, prints: next?.language === "text" ? next.body : undefined }];
  });
}

/** The text as a pattern in which "…" stands for anything in its line. */
export const pattern = (text) =>
  new RegExp(
    `^${text
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );
