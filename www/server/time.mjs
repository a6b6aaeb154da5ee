// Times as API objects carry them.

/** RFC 3339 to the second. @param {number} ms since 1970 */
export function timestamp(ms) {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
