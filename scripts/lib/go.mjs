// The Go on the path, which builds the real servers and the benchmark beside the apiserver's cacher.
import { SetupError } from "./fail.mjs";
import { atLeast } from "./project.mjs";
import { answer } from "./run.mjs";

/** What the Go modules of the project ask for. */
const GO_NEEDED = "1.26";

const GO_REMEDY = `install Go ${GO_NEEDED} or newer from https://go.dev/doc/install, then run this again.`;

/**
 * Which Go it is.
 * @returns {{ version: string, platform: string }}
 * @throws {SetupError} when there is none, or one that can neither build the modules nor fetch a Go that can
 */
export function requireGo() {
  const [version, os, arch, toolchain] = answer("go", ["env", "GOVERSION", "GOOS", "GOARCH", "GOTOOLCHAIN"])?.split("\n") ?? [];
  if (!version) throw new SetupError(`the real servers are built with Go and none was found: ${GO_REMEDY}`);
  // From 1.21 on, Go fetches the toolchain that a module asks for, unless told to stay local.
  const oldest = toolchain === "local" ? GO_NEEDED : "1.21";
  const have = /^go(\d+\.\d+)/.exec(version)?.[1];
  if (have && !atLeast(have, oldest)) throw new SetupError(`${version} is too old to build the real servers: ${GO_REMEDY}`);
  return { version, platform: `${os}/${arch}` };
}
