import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { openSession } from "./session";
import "./style.css";

const session = await openSession();

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App session={session} />
  </StrictMode>,
);
