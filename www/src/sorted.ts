import type { OrderBy } from "./columns";
import { compareVersions } from "./format";
import { type HeldPod, restartsOf } from "./pod";

const natural = new Intl.Collator("en", { numeric: true });

/** Pods in the order that a view would have them in: what has no value comes last, whichever way the others stand. */
export function sorted(pods: readonly HeldPod[], orderBy: OrderBy): HeldPod[] {
  const levels = orderBy.map(({ path, as, descending }) => ({ path, as, sign: descending ? -1 : 1 }));
  return [...pods].sort((a, b) => {
    for (const { path, as, sign } of levels) {
      const [left, right] = [valueOf(a, path), valueOf(b, path)];
      if (left === undefined || right === undefined) {
        if (left !== right) return left === undefined ? 1 : -1;
        continue;
      }
      const order = sign * (as === "number" ? compareVersions(left, right) : natural.compare(left, right));
      if (order !== 0) return order;
    }
    return 0;
  });
}

function valueOf(pod: HeldPod, path: string): string | undefined {
  if (path === "restarts") return restartsOf(pod)?.toString();
  let value: unknown = pod;
  for (const name of path.split(".")) value = (value as Record<string, unknown> | undefined)?.[name];
  return value as string | undefined;
}
