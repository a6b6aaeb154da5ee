// What the machine allows: is it Debian (or a relative), are we root, and apt-get when both hold.
import { readFileSync } from "node:fs";
import { SetupError, say } from "./fail.mjs";
import { looksOffline, run, which } from "./run.mjs";

export const isRoot = () => process.getuid?.() === 0;

export function isDebian() {
  try {
    const release = readFileSync("/etc/os-release", "utf8");
    return /^ID(_LIKE)?=.*(debian)/m.test(release) && which("apt-get") !== undefined;
  } catch {
    return false;
  }
}

export const canApt = () => isRoot() && isDebian();

/** Installs Debian packages, refreshing the package lists first when they do not know one of them. */
export async function aptInstall(packages, why) {
  say(`installing ${packages.join(", ")} with apt-get: ${why}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = () => run("apt-get", ["install", "-y", "--no-install-recommends", ...packages], { env, collect: true });
  let done = await install();
  if (done.code !== 0) {
    const update = await run("apt-get", ["update"], { env, collect: true });
    done = update.code === 0 ? await install() : { ...update, output: done.output + update.output };
  }
  if (done.code === 0) return;
  if (looksOffline(done.output)) {
    throw new SetupError(
      `apt-get could not reach its package server for ${packages.join(", ")}: connect to the network, then run this again.`,
    );
  }
  throw new SetupError(`apt-get could not install ${packages.join(", ")}: mend what it says above, then run this again.`);
}
