/** What messages call the objects of a kind by, as a server guesses it: `pods`, `networkpolicies.networking.k8s.io`. */
export function resourceOf(kind: string, apiVersion: string): string {
  const one = kind.toLowerCase();
  const [group, version] = apiVersion.split("/");
  return version === undefined ? plural(one) : `${plural(one)}.${group}`;
}

function plural(one: string): string {
  if (one.endsWith("endpoints")) return one;
  if (one.endsWith("s")) return `${one}es`;
  return one.endsWith("y") ? `${one.slice(0, -1)}ies` : `${one}s`;
}
