const known = new Map<string, string>();

/**
 * The protocol by which an origin has answered this page, such as `"h2"` or `"http/1.1"`. An empty text where the browser does not tell it, as
 * of another origin without `Timing-Allow-Origin`.
 */
export function protocolOf(server: string): string {
  const { origin } = new URL(server);
  const told = known.get(origin);
  if (told !== undefined) return told;
  const entries = ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type) as PerformanceResourceTiming[]);
  const answers = entries.filter(({ name, nextHopProtocol }) => nextHopProtocol !== "" && name.startsWith(`${origin}/`));
  const protocol = answers.at(-1)?.nextHopProtocol ?? "";
  if (protocol !== "") known.set(origin, protocol);
  return protocol;
}

/** Whether this host opens only a few connections to an origin, as browsers do. */
export function hasFewConnections(): boolean {
  return typeof location === "object" && typeof performance.getEntriesByType === "function";
}
