// Which apps of the matrix a run takes: one of each kind, the next one with each commit, or those that MATRIX names.
/**
 * @param {string[][]} kinds The names of each kind, such as bundlers, runners and hosts.
 * @param {string | undefined} setting `all`, or names with commas between them; without it, one of each kind has its turn.
 * @param {number} turn
 */
export function choose(kinds, setting, turn) {
  const all = kinds.flat();
  if (setting === "all") return all;
  if (!setting) return kinds.map((names) => names[turn % names.length]);
  const asked = setting.split(",");
  const unknown = asked.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`MATRIX names ${unknown}: choose from all, ${all.join(", ")}.`);
  return asked;
}
