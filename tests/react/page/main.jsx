// Scenarios by name: the test calls one, and asserts what it gives.
import * as edges from "./edges.jsx";
import * as life from "./life.jsx";
import * as misuse from "./misuse.jsx";
import * as objects from "./objects.jsx";
import * as shared from "./shared.jsx";
import * as suspense from "./suspense.jsx";
import * as views from "./views.jsx";
import * as watches from "./watches.jsx";
import { createElement } from "react";
import { hydrateRoot } from "react-dom/client";
import { leave } from "./lib.jsx";
import { App } from "./streamed.js";

const scenarios = { ...edges, ...life, ...misuse, ...objects, ...shared, ...suspense, ...views, ...watches };

globalThis.run = async (name, given) => {
  try {
    return await scenarios[name](given);
  } finally {
    await leave();
  }
};

// What Node has streamed is taken over as it is.
const id = new URLSearchParams(location.search).get("id");
if (id !== null) {
  globalThis.recovered = [];
  hydrateRoot(document, createElement(App, { id }), { onRecoverableError: (error) => globalThis.recovered.push(String(error)) });
}
