// The package's worker, which also does what a test tells it.
import "./starved.js";
import "/dist/worker.js";

new BroadcastChannel("tests").onmessage = ({ data }) => {
  if (data === "end") close();
  if (data === "hang") for (;;);
  // Four mebibytes are enough for what is there already.
  if (data === "starve") globalThis.starve(4 << 20);
  if (data === "exhaust") globalThis.exhaust();
  if (data === "tear") globalThis.tear();
};
