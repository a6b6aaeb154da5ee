// Sources of this process by the addresses of modules.
const numbers = new Map();
const sources = [];

/** The address of a module that exports this source. */
export function addressOf(source) {
  let number = numbers.get(source);
  if (number === undefined) numbers.set(source, (number = sources.push(source) - 1));
  return new URL(`handed-module.mjs?number=${number}`, import.meta.url);
}

export const handed = (number) => sources[number];
