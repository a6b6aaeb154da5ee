const GROUP = "\u202f"; // narrow no-break space

/** 182394 → "182 394"; takes decimal text of any length, as resource versions are. */
export const grouped = (value: number | string) => String(value).replace(/\B(?=(\d{3})+$)/g, GROUP);

/** 38123456 → "38 MB". */
export function bytes(count: number): string {
  if (count < 1e3) return `${count} B`;
  if (count < 1e6) return `${Math.round(count / 1e3)} kB`;
  return `${count < 1e7 ? (count / 1e6).toFixed(1) : grouped(Math.round(count / 1e6))} MB`;
}

/** Two units at most, as kubectl prints ages: "4d 3h", "12m 5s". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (days > 99) return `${days}d`;
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  if (minutes > 0) return `${minutes}m ${seconds % 60}s`;
  return `${seconds}s`;
}

/** A short span with a tenth, never broken into two lines: "0.9 s". */
export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)}\u00a0s`;

export const ago = (ms: number) => (ms < 1500 ? "just now" : `${duration(ms)} ago`);

/** "12:03:11", 24 hours whatever the locale: a log is compared line by line. */
export const clock = (at: number) => new Date(at).toTimeString().slice(0, 8);

export const plural = (count: number, one: string) => `${grouped(count)} ${count === 1 ? one : `${one}s`}`;

/** Resource versions are decimal text of any length: the longer is the larger, then the text decides. */
export const compareVersions = (a: string, b: string) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
