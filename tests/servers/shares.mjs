// Which of these suites a run takes that has no time for all of them: one share, the next with each commit.
import { turnNow } from "../../scripts/lib/turn.mjs";

/**
 * What belongs to a share, by the beginning of its path in this folder. They stand in the order of the ways of the end-to-end suite (`WAYS`). A suite
 * that skips when its way is not chosen stands in the share of its way: else no run would take it.
 */
const SHARES = [
  { name: "etcd", of: ["etcd.", "start-etcd.", "storage."] },
  { name: "clients and the relay", of: ["clients/", "relay.", "types.", "compaction."] },
  { name: "kube-apiserver", of: ["kube-apiserver.", "compare/", "harness.", "browser.", "throttled."] },
];

/**
 * @param {readonly string[]} files in this folder
 * @param {number} [turn]
 * @returns {{ name: string, files: string[] }} the share whose turn it is
 */
export function shareOf(files, turn = turnNow()) {
  const belongs = (/** @type {string} */ file, /** @type {string[]} */ of) => of.some((start) => file.includes(`tests/servers/${start}`));
  const homeless = files.filter((file) => SHARES.filter(({ of }) => belongs(file, of)).length !== 1);
  if (homeless.length > 0) throw new Error(`these are not in one share of tests/servers/shares.mjs: ${homeless.join(", ")}.`);
  const { name, of } = SHARES[turn % SHARES.length];
  return { name, files: files.filter((file) => belongs(file, of)) };
}
