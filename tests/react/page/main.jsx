// Scenarios by name: the test calls one, and asserts what it gives.
import * as edges from "./edges.jsx";
import * as life from "./life.jsx";
import * as misuse from "./misuse.jsx";
import * as objects from "./objects.jsx";
import * as suspense from "./suspense.jsx";
import * as views from "./views.jsx";
import * as watches from "./watches.jsx";
import { leave } from "./lib.jsx";

const scenarios = { ...edges, ...life, ...misuse, ...objects, ...suspense, ...views, ...watches };

globalThis.run = async (name, given) => {
  try {
    return await scenarios[name](given);
  } finally {
    await leave();
  }
};
