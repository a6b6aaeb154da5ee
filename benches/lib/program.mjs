// The bench targets of Cargo.toml, and what such a program prints: a line of JSON for each figure.
import { nativeEnvironment } from "../../scripts/lib/env.mjs";
import { CommandFailed } from "../../scripts/lib/fail.mjs";
import { root } from "../../scripts/lib/project.mjs";
import { run } from "../../scripts/lib/run.mjs";

const jsonLines = (output) =>
  output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

/** Builds a bench target and says where it is. */
export async function buildProgram(bench) {
  const args = ["bench", "--locked", "--bench", bench, "--no-run", "--message-format=json-render-diagnostics"];
  const { code, output } = await run("cargo", args, { cwd: root, env: nativeEnvironment(), quiet: true });
  const built = jsonLines(output).find(({ target, executable }) => target?.kind?.includes("bench") && executable);
  if (code !== 0 || built === undefined) throw new CommandFailed(`the program benches/${bench} could not be built.`);
  return built.executable;
}

/** The figures that a program prints. */
export async function linesOf(command, args, env = {}) {
  const { code, output } = await run(command, args, { cwd: root, env: { ...process.env, ...env }, quiet: true });
  if (code !== 0) throw new CommandFailed(`${[command, ...args].join(" ")} failed, see above.`);
  return jsonLines(output);
}
