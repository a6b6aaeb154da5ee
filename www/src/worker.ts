import "watchcache/worker.js";
import { END } from "./ending";

// The worker that holds the streams of all tabs. This script of its own is needed for one button alone: no page can end a worker that is shared.
new BroadcastChannel(END).onmessage = () => close();
