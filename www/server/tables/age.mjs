// How long ago, as tables say it: two units at most, and the smaller one only while it tells something.

const SECOND = 1_000;

/**
 * @param {string | null | undefined} time RFC 3339
 * @param {number} now in milliseconds
 * @returns {string} such as "5d4h"
 */
export function since(time, now) {
  if (!time) return "<unknown>";
  return duration(now - Date.parse(time));
}

/** @param {number} ms */
export function duration(ms) {
  const seconds = Math.trunc(ms / SECOND);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return both(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return both(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return both(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? both(years, "y", days % 365, "d") : `${years}y`;
}

/** @param {number} large @param {string} unit @param {number} small @param {string} smallUnit */
const both = (large, unit, small, smallUnit) => `${large}${unit}${small === 0 ? "" : `${small}${smallUnit}`}`;
