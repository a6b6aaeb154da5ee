import "./fetchless.js";
import "/dist/worker.js";
