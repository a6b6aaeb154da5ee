// What the look-alike does otherwise than the original, on purpose. Each is shown by a test that names it, and docs/moving-over/openshift.md has them
// all, word by word.

/** @type {Record<string, { there: string, here: string, why: string }>} */
export const DIFFERENCES = {
  order: {
    there: "rows are in the order of hashes",
    here: "rows are in the order of their keys, namespace first",
    why: "a list that a reader can follow",
  },
  partialMetadata: {
    there: "with `partialMetadata` objects come without `spec` and `data`",
    here: "objects come whole",
    why: "all who watch a kind share one stream",
  },
  gone: {
    there: "a deleted object is told within half a minute, by the next poll",
    here: "it is told at once: the last version, and an error with 404",
    why: "the stream says so",
  },
  first: {
    there: "the first render of one object has `{}`, and later ones `null`",
    here: "it is `null` from the start",
    why: "one value for what is not there",
  },
  model: {
    there: "a kind that nobody registered is the error `Model does not exist`",
    here: "it is an error `not-found` that names the kind and the remedy",
    why: "the mistake is found where it is made",
  },
  null: {
    there: "`null` among several specs throws in the render",
    here: "nothing is watched for it",
    why: "the hook for one spec takes it, too",
  },
  pages: {
    there: "a list is loaded with its first page, of 250",
    here: "it is loaded with its last page",
    why: "a count of half a list is wrong",
  },
  kept: {
    there: "a list that is mounted again begins without rows",
    here: "it has its rows of before at once, and catches up by events",
    why: "the cache still holds them",
  },
  own: {
    there: "components with equal specs share an array",
    here: "each has an array of its own, of the same objects",
    why: "one that sorts in place changes no other",
  },
  reconnect: {
    there: "a dropped connection is mended after 15 seconds, by a new list",
    here: "the watch goes on from the last version, at once",
    why: "nothing is missed, and nothing is loaded twice",
  },
  unreachable: {
    there: "a server that fails is told after a failed list, 15 seconds later",
    here: "it is told from the second failed try in a row, until one succeeds",
    why: "what is shown is known to be old",
  },
  code: {
    there: "`error.code` is the HTTP code",
    here: "`error.code` is a stable word; `response.status` and `json` are as there",
    why: "one set of codes in the whole package",
  },
  deleted: {
    there: "`k8sDelete` gives what the server says, which may be the object",
    here: "it gives a `Status`",
    why: "the last version comes by the stream",
  },
  written: {
    there: "hooks show a write when they next look at their socket, up to half a second later",
    here: "hooks have it by the time that the call is over, and render it with the next frame",
    why: "no list that lacks what was just made",
  },
  refused: {
    there: "calls send any path, any query and settings of `fetch`",
    here: "they know parts of objects, `dryRun`, `fieldManager` and `fieldValidation`; all else is refused by name",
    why: "the cache sends its own requests, and drops nothing in silence",
  },
  managedFields: {
    there: "objects have `metadata.managedFields`",
    here: "they have none, unless the option `strip` of the cache keeps them",
    why: "it is half of the memory, and hardly read",
  },
};

const shown = new Set();

/** Says in a test which difference follows. @param {keyof typeof DIFFERENCES} name */
export function differs(name) {
  if (!(name in DIFFERENCES)) throw new Error(`there is no difference ${name}`);
  shown.add(name);
}

/** Those that no test has shown so far. */
export const notShown = () => Object.keys(DIFFERENCES).filter((name) => !shown.has(name));
