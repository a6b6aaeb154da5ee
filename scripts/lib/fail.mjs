// How a script ends badly: one sentence that names the remedy and exit code 1. A stack is for our own mistakes only.

/** Something outside the project is missing. The message is the whole answer a person gets, so it must name the remedy. */
export class SetupError extends Error {}

/** A command that ran and failed, and has said why itself. */
export class CommandFailed extends Error {}

/** Runs the body of a script; a SetupError or a failed command becomes one line and exit code 1. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    const expected = error instanceof SetupError || error instanceof CommandFailed;
    console.error(expected ? `\nwatchcache: ${error.message}` : error);
    process.exitCode = 1;
  }
}

/** Says what is being done, so that it stands out from the output of the tools. */
export function say(text) {
  console.log(`watchcache: ${text}`);
}
