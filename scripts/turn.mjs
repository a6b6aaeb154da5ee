// Whose turn it is of so many, from 0 on: `node scripts/turn.mjs 3`. For .ci/run.
import { turnNow } from "./lib/turn.mjs";

console.log(turnNow() % Number(process.argv[2]));
