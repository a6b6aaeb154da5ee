import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { openSession } from "./session";
import "./style/base.css";
import "./style/frame.css";
import "./style/table.css";
import "./style/footer.css";
import "./style/drawer.css";
import "./style/time.css";
// Last: it folds what the others lay out.
import "./style/narrow.css";

const root = document.getElementById("root")!;

try {
  const session = await openSession();
  createRoot(root).render(
    <StrictMode>
      <App session={session} />
    </StrictMode>,
  );
} catch (error) {
  root.querySelector("small")!.textContent = `could not start: ${(error as Error).message}`;
}
