import { callback } from "../../options/kinds.js";
import type { MaybePromise } from "../../upstream/types.js";
import { RULES } from "./rules.js";
import { Session } from "./session.js";
import type { ConformanceCheck, ConformanceOptions, SourceUnderTest } from "./types.js";

/**
 * What a source of your own owes the cache, rule by rule, for any runner of tests:
 *
 * ```ts
 * for (const { name, run } of sourceConformance(makeSource)) test(name, run);
 * ```
 *
 * @param make is called for each check, and gives a source that holds nothing, with what changes it
 * @throws {WatchCacheError} `invalid` for what is no function.
 */
export function sourceConformance(
  make: () => MaybePromise<SourceUnderTest>,
  options: ConformanceOptions = {},
): readonly ConformanceCheck[] {
  callback(make, "make");
  return RULES.map(({ name, applies, check }) => ({
    name,
    run: async () => {
      const subject = await make();
      const session = new Session(subject, options);
      try {
        if (applies?.(subject) === false) return "not asked" as const;
        await check(session);
        return "held" as const;
      } finally {
        await session.end();
      }
    },
  }));
}
