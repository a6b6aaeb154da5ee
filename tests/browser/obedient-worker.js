// The package's worker, which also does what a test tells it.
import "/dist/worker.js";

new BroadcastChannel("tests").onmessage = ({ data }) => {
  if (data === "end") close();
  if (data === "hang") for (;;);
};
