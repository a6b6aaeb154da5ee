import { invalid, readable } from "../options/kinds.js";
import { LISTED, WATCHED } from "./options.js";
import { checkCollection, type GivenSource } from "./spec.js";

/**
 * The source that a module exports by default, or that the function makes which it exports.
 *
 * @param id the resource's
 * @param polls it need not have `watch`
 * @throws {WatchCacheError} `invalid`, whatever is wrong with the module.
 */
export async function imported(address: string, id: string, polls: boolean): Promise<GivenSource> {
  let given: unknown;
  try {
    // The address is known at run time alone: no bundler is to look for it.
    const module = (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ address)) as {
      default?: unknown;
    };
    given = module.default;
    if (typeof given === "function") given = await (given as (id: string) => unknown)(id);
  } catch (error) {
    throw invalid(`the module of ${id}, ${address}, gives no source: ${String(error)}`);
  }
  return readable(`what ${address} exports`, () => {
    const source = (polls ? LISTED : WATCHED)(given, `the default export of ${address}`) as GivenSource;
    checkCollection(source);
    return source;
  });
}
